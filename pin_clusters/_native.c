/* The fast path from a Python call to a compiled kernel.

   Users call a `Function`, such as pc.rnea.  A `Plan` belongs to one data object (or one model) and to one typical list
   of arguments.  It lists steps that read the arguments, run kernels and create the result.  Python writes the plans
   (pin_clusters/compiler/calls); this file executes them.  If no plan fits, or if a step fails, the call runs the
   Python function of the same name, which converts the arguments, compiles kernels, or raises the error.

   Rules
   1. This file never raises an error for an invalid argument.  If a step fails, the Python function runs.
   2. A plan owns every array and object that its steps refer to.  The constructor of `Plan` checks their sizes.
   3. No Python code runs between the step that determines the address of an argument's numbers and the kernel that
      reads the numbers.  Steps that call Python (`call`) run earlier; later steps determine addresses again.
   4. Memory of pin.Data is used only after the step `unchanged` has checked that its address is still valid. */

#define PY_SSIZE_T_CLEAN
#include <Python.h>
#include <structmember.h>
#define NPY_NO_DEPRECATED_API NPY_2_0_API_VERSION
#define NPY_TARGET_VERSION NPY_2_0_API_VERSION
#include <math.h>
#include <numpy/arrayobject.h>
#include <numpy/arrayscalars.h>
#include <stdint.h>
#include <string.h>

/* extension.py compares this number: increase both when steps or methods change. */
#define INTERFACE 2

#if PY_VERSION_HEX < 0x030D0000 /* one interpreter lock protects everything */
#define Py_BEGIN_CRITICAL_SECTION(x) {
#define Py_END_CRITICAL_SECTION() }
#endif

typedef int64_t W; /* a word: an integer, or an address */
#define PLACE(type, word) ((type *)(intptr_t)(word))
#define NUMBERS_AT(word) PLACE(double, word)
#define WORD_AT(word) (*PLACE(W, word))

enum { MOST_ARGUMENTS = 16, MOST_MADE = 12 };

static PyTypeObject *Owner_type, *Plan_type, *Function_type, *Question_type;
static W compiled_count; /* how often this process has compiled code; new code may make new plans possible */

/* ------------------------------------------------------------------ arguments: reading their numbers */

#define COPY_AS(type) \
    for (W i = 0; i < n; i++, from += stride) { \
        type x; \
        memcpy(&x, from, sizeof x); \
        to[i] = (double)x; \
    } \
    return 1

/* Copy n numbers of any real dtype, `stride` bytes apart; returns 0 for dtypes that only NumPy can convert. */
static int copy_array(PyArrayObject *a, W n, const char *from, W stride, double *to)
{
    if (!PyArray_ISNOTSWAPPED(a)) return 0;
    switch (PyArray_TYPE(a)) {
    case NPY_DOUBLE: COPY_AS(double);
    case NPY_FLOAT: COPY_AS(float);
    case NPY_BOOL: COPY_AS(npy_bool);
    case NPY_BYTE: COPY_AS(npy_byte);
    case NPY_UBYTE: COPY_AS(npy_ubyte);
    case NPY_SHORT: COPY_AS(npy_short);
    case NPY_USHORT: COPY_AS(npy_ushort);
    case NPY_INT: COPY_AS(npy_int);
    case NPY_UINT: COPY_AS(npy_uint);
    case NPY_LONG: COPY_AS(npy_long);
    case NPY_ULONG: COPY_AS(npy_ulong);
    case NPY_LONGLONG: COPY_AS(npy_longlong);
    case NPY_ULONGLONG: COPY_AS(npy_ulonglong);
    default: return 0;
    }
}

/* Read a Python or NumPy number without running Python code. */
static int read_number(PyObject *x, double *to)
{
    if (PyFloat_CheckExact(x) || PyArray_IsScalar(x, Double)) { /* np.float64 is a subclass of float */
        *to = PyFloat_AS_DOUBLE(x);
        return 1;
    }
    if (PyLong_CheckExact(x)) {
        int overflow;
        long long whole = PyLong_AsLongLongAndOverflow(x, &overflow);
        *to = (double)whole;
        return !overflow;
    }
    return 0;
}

static int copy_list(PyObject *x, W n, double *to)
{
    int done = 0;
    Py_BEGIN_CRITICAL_SECTION(x);
    if (PySequence_Fast_GET_SIZE(x) == n) {
        PyObject **items = PySequence_Fast_ITEMS(x);
        for (done = 1; done && n > 0; n--) done = read_number(*items++, to++);
    }
    Py_END_CRITICAL_SECTION();
    return done;
}

static inline int is_list(PyObject *x) { return PyList_CheckExact(x) || PyTuple_CheckExact(x); }

#define READABLE (NPY_ARRAY_C_CONTIGUOUS | NPY_ARRAY_ALIGNED)
#define WRITABLE (READABLE | NPY_ARRAY_WRITEABLE)

static inline int is_double(PyArrayObject *a, int flags)
{
    return PyArray_TYPE(a) == NPY_DOUBLE && (PyArray_FLAGS(a) & flags) == flags && PyArray_ISNOTSWAPPED(a);
}

/* Return the address of the n numbers of a vector if kernels can read them without conversion, else NULL. */
static inline const double *numbers_in_place(PyObject *x, W n)
{
    PyArrayObject *a = (PyArrayObject *)x;
    if (!x || !PyArray_CheckExact(x) || PyArray_NDIM(a) != 1 || PyArray_DIM(a, 0) != n) return NULL;
    return is_double(a, READABLE) ? PyArray_DATA(a) : NULL;
}

/* Return the address of the n numbers of x, copied to `buffer` if necessary; NULL if only Python can convert x. */
static const double *numbers_of(PyObject *x, W n, double *buffer)
{
    if (!x) return NULL;
    if (PyArray_CheckExact(x)) {
        PyArrayObject *a = (PyArrayObject *)x;
        const npy_intp *dims = PyArray_DIMS(a);
        int nd = PyArray_NDIM(a), axis = 0;
        if (numbers_in_place(x, n)) return PyArray_DATA(a);
        if (nd == 2 && (dims[0] == 1 || dims[1] == 1)) axis = dims[0] == 1; /* shape (1, n) or (n, 1) */
        else if (nd != 1) return NULL;
        return dims[axis] == n && copy_array(a, n, PyArray_BYTES(a), PyArray_STRIDES(a)[axis], buffer) ? buffer : NULL;
    }
    return is_list(x) && copy_list(x, n, buffer) ? buffer : NULL;
}

/* Like `numbers_of`, for an array of shape (rows, columns) or a list of lists. */
static const double *matrix_of(PyObject *x, W rows, W columns, double *buffer)
{
    PyArrayObject *a = (PyArrayObject *)x;
    if (is_list(x)) {
        W i = 0;
        Py_BEGIN_CRITICAL_SECTION(x);
        if (PySequence_Fast_GET_SIZE(x) == rows)
            for (PyObject **items = PySequence_Fast_ITEMS(x); i < rows && is_list(items[i]); i++)
                if (!numbers_of(items[i], columns, buffer + i * columns)) break;
        Py_END_CRITICAL_SECTION();
        return i == rows ? buffer : NULL;
    }
    if (!PyArray_CheckExact(x) || PyArray_NDIM(a) != 2) return NULL;
    if (PyArray_DIM(a, 0) != rows || PyArray_DIM(a, 1) != columns) return NULL;
    if (is_double(a, READABLE)) return PyArray_DATA(a);
    for (W i = 0; i < rows; i++)
        if (!copy_array(a, columns, PyArray_BYTES(a) + i * PyArray_STRIDE(a, 0), PyArray_STRIDE(a, 1), buffer + i * columns))
            return NULL;
    return buffer;
}

/* Memory layout of Pinocchio's objects.  A Boost.Python object contains the address of a holder.  If the holder
   contains the C++ object, its first word is the same for all objects of the class.  `introduce` stores this word;
   it stores 0 if the numbers of a sample object are not at the expected address. */
static struct {
    PyTypeObject *Force, *Forces, *SE3;
    W force_holder, forces_holder, se3_holder;
    Py_ssize_t holder_at; /* offset of the holder's address in a Boost.Python object [bytes] */
} boost;

static const W *holder_of(PyObject *x, PyTypeObject *type, W first_word)
{
    const W *holder;
    if (!first_word || Py_TYPE(x) != type) return NULL;
    holder = *(const W **)((char *)x + boost.holder_at);
    return holder && *holder == first_word ? holder : NULL;
}

static const double *force_of(PyObject *x)
{
    const W *holder = holder_of(x, boost.Force, boost.force_holder);
    return holder ? (const double *)(holder + 2) : NULL;
}

/* Copy external forces to shape (n, 6): from an array, a list or tuple of pin.Force or arrays, or a StdVec_Force. */
static int copy_forces(PyObject *x, W n, double *to)
{
    int done = 0;
    if (PyArray_CheckExact(x)) {
        const double *found = matrix_of(x, n, 6, to);
        if (found && found != to) memcpy(to, found, 48 * (size_t)n);
        return found != NULL;
    }
    if (Py_TYPE(x) == boost.Forces) {
        const W *holder = holder_of(x, boost.Forces, boost.forces_holder);
        if (!holder || holder[3] - holder[2] != 48 * n) return 0;
        memcpy(to, PLACE(double, holder[2]), 48 * (size_t)n);
        return 1;
    }
    if (!is_list(x)) return 0;
    Py_BEGIN_CRITICAL_SECTION(x);
    if (PySequence_Fast_GET_SIZE(x) == n) {
        PyObject **items = PySequence_Fast_ITEMS(x);
        W i;
        for (i = 0; i < n; i++, to += 6) {
            const double *six = force_of(items[i]);
            if (!six && PyArray_CheckExact(items[i]) && PyArray_NDIM((PyArrayObject *)items[i]) == 1)
                six = numbers_of(items[i], 6, to);
            if (!six) break;
            if (six != to) memcpy(to, six, 48);
        }
        done = i == n;
    }
    Py_END_CRITICAL_SECTION();
    return done;
}

/* Copy a pin.SE3 as a homogeneous matrix, row by row. */
static int copy_placement(PyObject *x, double *to)
{
    const W *holder = holder_of(x, boost.SE3, boost.se3_holder);
    const double *from = holder ? (const double *)(holder + 2) : NULL; /* rotation (column by column), then position */
    if (!from) return 0;
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 4; j++) to[4 * i + j] = from[3 * j + i];
    memcpy(to + 12, (double[]){0.0, 0.0, 0.0, 1.0}, 32);
    return 1;
}

/* Return a nonnegative integer; -1 for all other objects, including bool. */
static W index_of(PyObject *x)
{
    int overflow;
    W n;
    if (PyArray_IsScalar(x, Long)) return Py_MAX(PyArrayScalar_VAL(x, Long), -1); /* np.int64 */
    if (!PyLong_CheckExact(x)) return -1;
    n = PyLong_AsLongLongAndOverflow(x, &overflow);
    return overflow || n < 0 ? -1 : n;
}

/* ------------------------------------------------------------------ plans: steps */

/* X(name, operands): one letter per operand.
   s: position of an argument      n: a count, the minimum size of the arrays that follow it      i: an integer
   a digit: an integer from 0 to this digit      c: a class      t: a tuple      o: an object
   w: the first word of a writable array      a: a writable array      k: a list of steps that can be skipped
   x: an object, the position of an argument, or MOST_ARGUMENTS plus the index of a result */
#define STEPS(X) \
    /* arguments; unless noted, the address of the numbers is written to the word */ \
    X(numbers, "snaw")     /* a vector of n numbers; other types are converted to float64 in the array */ \
    X(matrix, "sinaw")     /* like `numbers`, for shape (rows, columns): rows, rows times columns */ \
    X(forces, "sina")      /* external forces, copied to the array: number of forces, 6 times this number */ \
    X(mask, "snw")         /* a contiguous array of n bool */ \
    X(placement, "sna")    /* a pin.SE3, copied to the array as a matrix of 16 numbers */ \
    X(object, "soiina")    /* an object: class, first word of its holder; index and number of the words to copy */ \
    X(index, "siiw")       /* a nonnegative integer below a limit; the integer plus an offset is written */ \
    X(choice, "sciw")      /* a member of an enum, whose value is written; the default, or -1 if required */ \
    X(real, "sw")          /* one number, which is written */ \
    X(rows, "sn")          /* a matrix with n rows that Pinocchio can read */ \
    /* conditions; if a condition is false, the Python function runs */ \
    X(member, "scii")      /* the argument is a member of an enum with this value; the default value */ \
    X(flag, "sii")         /* the argument is true (1) or false (0); the default value */ \
    X(truth, "s")          /* the argument is True, False or a nonnegative integer */ \
    X(same, "so")          /* the argument is this object */ \
    X(items, "st")         /* the argument is a list or tuple with the same objects as this tuple */ \
    X(unchanged, "na")     /* addresses of memory of pin.Data or contacts are still valid: see watch.py */ \
    X(owes, "wi")          /* the word has none of these bits */ \
    X(equal, "wi")         /* the word has this value */ \
    X(reaches, "wi")       /* the number is at least this integer */ \
    X(at_most, "wi")       /* the number is at most this integer */ \
    X(finite, "nw")        /* the n numbers at an address are finite */ \
    X(apart, "nwna")       /* the n numbers at an address do not overlap the n numbers of an array */ \
    X(alike, "naa")        /* the n numbers of two arrays are the same */ \
    X(unless, "wik")       /* execute the steps unless the word has this value */ \
    /* work */ \
    X(run, "ina")          /* call the code at an address with n words of arguments */ \
    X(note, "4iiinananwnwnw") /* store a state: buffer, bits (clears, owes, spoils), status words, copy, q, v, a */ \
    X(owe, "")             /* after the kernel: update the status words for the last `note` */ \
    X(copy, "naa")         /* copy n numbers: to, from */ \
    X(save, "naw")         /* copy n numbers to an array from an address */ \
    X(move, "nww")         /* copy n numbers from the first address to the second address */ \
    X(set, "wi")           /* write an integer to a word */ \
    X(sum, "www")          /* add the first two numbers; write the sum to the third */ \
    X(scale, "nww")        /* multiply the n numbers at an address by a number */ \
    X(bounds, "naww")      /* check n lower and upper limits; write -1 and 1 where the array is 0 */ \
    /* results, appended to the list of results unless noted */ \
    X(fresh, "3iiiw")      /* a new array: dimensions, three sizes; the address of its numbers is written */ \
    X(out, "s3iwsiwsiwsiw") /* the argument `out` or a new array: dimensions, size, address; three inputs */ \
    X(copied, "3iiina")    /* a new array with the numbers of an array */ \
    X(number, "w")         /* a float */ \
    X(thing, "o")          /* an object */ \
    X(call, "o5xxxxx")     /* the value that a Python function returns; the second operand counts its arguments */ \
    X(vector, "s1na")      /* the argument, if kernels (0) or Pinocchio (1) can read it; otherwise a new array */ \
    X(result, "nnw")       /* write the address of the n numbers of a result; append nothing */ \
    X(drop, "")            /* remove the last result */ \
    X(give, "n")           /* end the plan and return the results from this index on: None, one, or a tuple */ \
    /* vectors, whose addresses are in words; `gather` to `minus` have the operands n, places, x, y, to */ \
    X(zero, "nw")          /* set n numbers to 0 */ \
    X(gather, "nawww")     /* to[i] = x[k], where k = places[i] for each i < n */ \
    X(scatter, "nawww")    /* to[k] = x[i] */ \
    X(same_places, "nawww") /* to[k] = x[k] */ \
    X(plus, "nawww")       /* to[k] = x[k] + y[i] */ \
    X(minus, "nawww")      /* to[i] = x[k] - y[k] */ \
    X(affine, "naanaaaww") /* to[places] = constants; then to[rows[k]] += coefficients[k] * x[of[k]]: x, to */ \
    X(turns, "naaw")       /* check that each x[places[i]] is a multiple of turns[i], up to SAME_POSE */ \
    X(units, "inaw")       /* normalise parts of x, given by pairs (first index, length) */ \
    X(near, "naw")         /* check that x differs from an array by at most FAR */

#define NAME_OF(name, operands) STEP_##name,
enum { STEPS(NAME_OF) STEP_COUNT };
#define LAYOUT_OF(name, operands) {#name, operands},
static const struct { const char *name, *operands; } layouts[] = {STEPS(LAYOUT_OF)};
#define SIZE_OF(name, operands) SIZE_##name = sizeof operands, /* in words: the number of the step, then its operands */
enum { STEPS(SIZE_OF) };

#define SAME_POSE 1e-6 /* [rad] or [m], tolerance of joint coordinates */
#define UNLIMITED 1e100 /* Pinocchio represents missing limits by the largest double */
#define FAR 0.5        /* [rad] or [m]; if a projection changes q by more, the Python function runs */

typedef struct {
    PyObject_HEAD
    W required, allowed; /* bit masks of the required arguments and of all accepted arguments */
    W positions;         /* 1 + the largest argument position that the steps read */
    int remembered;      /* whether `_remember_plan` added it; `renew` keeps such plans */
    W *code;             /* the steps: number of each step, then its operands */
    PyObject *owned;     /* a tuple of all objects that the operands refer to */
} Plan;

typedef struct { W *code, positions; Py_ssize_t size, capacity; int makes; PyObject *owned; } Writer;

static int write_word(Writer *w, W word)
{
    if (w->size == w->capacity) {
        W *more = PyMem_Realloc(w->code, sizeof(W) * (size_t)(w->capacity = 2 * w->capacity + 64));
        if (!more) return PyErr_NoMemory(), -1;
        w->code = more;
    }
    w->code[w->size++] = word;
    return 0;
}

static int write_steps(Writer *w, PyObject *steps);

/* Write one operand; *count is the last operand of kind n. */
static int write_operand(Writer *w, const char *step, char kind, PyObject *x, W *count)
{
    W word;
    if (kind == 'k') {
        Py_ssize_t at = w->size;
        if (write_word(w, 0) < 0 || write_steps(w, x) < 0) return -1;
        w->code[at] = w->size - at - 1;
        return 0;
    }
    if (kind == 's' || kind == 'n' || kind == 'i' || kind <= '9' || (kind == 'x' && PyLong_CheckExact(x))) {
        word = PyLong_AsLongLong(x);
        if (word == -1 && PyErr_Occurred()) return -1;
        if ((kind != 'i' && word < 0) || (kind == 's' && word >= MOST_ARGUMENTS) || (kind <= '9' && word > kind - '0') ||
            (kind == 'x' && word >= MOST_ARGUMENTS + MOST_MADE)) {
            PyErr_Format(PyExc_ValueError, "%s: %R is out of range", step, x);
            return -1;
        }
        if (kind == 'n') *count = word;
        if ((kind == 's' || kind == 'x') && word < MOST_ARGUMENTS && word >= w->positions) w->positions = word + 1;
        return write_word(w, word);
    }
    if (kind == 'w' || kind == 'a') {
        PyArrayObject *a = (PyArrayObject *)x;
        if (!PyArray_CheckExact(x) || PyArray_ITEMSIZE(a) != 8 || !PyArray_ISCARRAY(a) ||
            PyArray_SIZE(a) < (kind == 'w' ? 1 : *count)) {
            PyErr_Format(PyExc_ValueError, "%s: expected a writable contiguous array of at least %lld words, got %R", step,
                         (long long)(kind == 'w' ? 1 : *count), x);
            return -1;
        }
        word = (W)(intptr_t)PyArray_DATA(a);
    } else if ((kind == 'c' && !PyType_Check(x)) || (kind == 't' && !PyTuple_CheckExact(x))) {
        PyErr_Format(PyExc_ValueError, "%s: expected a %s, got %R", step, kind == 'c' ? "class" : "tuple", x);
        return -1;
    } else
        word = (W)(intptr_t)x;
    return PyList_Append(w->owned, x) < 0 ? -1 : write_word(w, word);
}

/* Return whether `call_code` can pass n words. */
static int is_size(W n) { return n == 20 || n == 32 || n == 52 || n == 76 || n == 120 || n == 216; }

static int write_steps(Writer *w, PyObject *steps)
{
    if (!PyList_CheckExact(steps)) return PyErr_Format(PyExc_TypeError, "steps must be a list, got %R", steps), -1;
    for (Py_ssize_t i = 0; i < PyList_GET_SIZE(steps); i++) {
        PyObject *step = PyList_GET_ITEM(steps, i);
        const char *name = PyTuple_CheckExact(step) && PyTuple_GET_SIZE(step) > 0 && PyUnicode_Check(PyTuple_GET_ITEM(step, 0))
                               ? PyUnicode_AsUTF8(PyTuple_GET_ITEM(step, 0)) : NULL;
        int k = 0;
        W count = 0;
        while (name && k < STEP_COUNT && strcmp(name, layouts[k].name)) k++;
        if (!name || k == STEP_COUNT || PyTuple_GET_SIZE(step) != 1 + (Py_ssize_t)strlen(layouts[k].operands))
            return PyErr_Format(PyExc_ValueError, "no step of this form: %R", step), -1;
        if (k >= STEP_fresh && k <= STEP_vector && ++w->makes > MOST_MADE)
            return PyErr_Format(PyExc_ValueError, "more than %d results", MOST_MADE), -1;
        if (write_word(w, k) < 0) return -1;
        for (Py_ssize_t j = 1; j < PyTuple_GET_SIZE(step); j++)
            if (write_operand(w, name, layouts[k].operands[j - 1], PyTuple_GET_ITEM(step, j), &count) < 0) return -1;
        if (k == STEP_run && !is_size(count))
            return PyErr_Format(PyExc_ValueError, "run: no kernel is called with %lld words", (long long)count), -1;
    }
    return 0;
}

/* Plan(required, allowed, steps, kept): the plan also owns `kept`. */
static PyObject *plan_new(PyTypeObject *type, PyObject *args, PyObject *named)
{
    long long required, allowed;
    PyObject *steps, *kept;
    if ((named && PyDict_GET_SIZE(named)) || !PyArg_ParseTuple(args, "LLOO", &required, &allowed, &steps, &kept))
        return PyErr_Occurred() ? NULL : PyErr_Format(PyExc_TypeError, "Plan takes no keywords");
    Writer w = {NULL, 0, 0, 0, 0, PyList_New(0)};
    /* An additional step `give` ends every plan; it returns None. */
    int written = w.owned && PyList_Append(w.owned, kept) == 0 && write_steps(&w, steps) == 0 &&
                  write_word(&w, STEP_give) == 0 && write_word(&w, MOST_MADE) == 0;
    PyObject *owned = written ? PyList_AsTuple(w.owned) : NULL; /* a tuple, because it is immutable */
    Plan *plan = owned ? (Plan *)type->tp_alloc(type, 0) : NULL;
    Py_XDECREF(w.owned);
    if (!plan) {
        PyMem_Free(w.code);
        Py_XDECREF(owned);
        return NULL;
    }
    plan->required = required, plan->allowed = allowed, plan->code = w.code, plan->owned = owned;
    plan->positions = w.positions;
    return (PyObject *)plan;
}

static int plan_traverse(PyObject *self, visitproc visit, void *arg)
{
    Py_VISIT(Py_TYPE(self));
    Py_VISIT(((Plan *)self)->owned);
    return 0;
}

/* There is no tp_clear, because the steps need the owned objects.  Owners break cycles by releasing their plans. */
static void plan_dealloc(PyObject *self)
{
    PyTypeObject *type = Py_TYPE(self);
    PyObject_GC_UnTrack(self);
    PyMem_Free(((Plan *)self)->code);
    Py_XDECREF(((Plan *)self)->owned);
    type->tp_free(self);
    Py_DECREF(type);
}

/* ------------------------------------------------------------------ plans: execution */

#define T1 W
#define T4 T1, T1, T1, T1
#define T16 T4, T4, T4, T4
#define T32 T16, T16
#define T64 T32, T32
#define G4(i) w[i], w[i + 1], w[i + 2], w[i + 3]
#define G16(i) G4(i), G4(i + 4), G4(i + 8), G4(i + 12)
#define G32(i) G16(i), G16(i + 16)
#define G64(i) G32(i), G32(i + 32)

/* Call code as a C function with n integer arguments.  Functions compiled by Numba return int32; their first arguments
   are the addresses of a result and of an error.  They ignore additional arguments, because in the calling conventions
   of x86-64 and ARM64 the caller cleans up the stack.  Therefore a few numbers of arguments suffice for all kernels. */
static int32_t call_code(W code, const W *w, W n)
{
    if (n <= 20) return ((int32_t(*)(T16, T4))(intptr_t)code)(G16(0), G4(16));
    if (n <= 32) return ((int32_t(*)(T32))(intptr_t)code)(G32(0));
    if (n <= 52) return ((int32_t(*)(T32, T16, T4))(intptr_t)code)(G32(0), G16(32), G4(48));
    if (n <= 76) return ((int32_t(*)(T64, T4, T4, T4))(intptr_t)code)(G64(0), G4(64), G4(68), G4(72));
    if (n <= 120) return ((int32_t(*)(T64, T32, T16, T4, T4))(intptr_t)code)(G64(0), G32(64), G16(96), G4(112), G4(116));
    return ((int32_t(*)(T64, T64, T64, T16, T4, T4))(intptr_t)code)(G64(0), G64(64), G64(128), G16(192), G4(208), G4(212));
}

/* Run a kernel; return whether it raised no exception and returned status 0. */
static int run_kernel(W code, W *words, W n)
{
    W status = 0, error = 0;
    words[0] = (W)(intptr_t)&status, words[1] = (W)(intptr_t)&error;
    return call_code(code, words, n) == 0 && status == 0;
}

static PyArray_Descr *float64; /* the dtype of all new arrays */

static PyObject *new_array(W nd, W d0, W d1, W d2)
{
    npy_intp dims[3] = {d0, d1, d2};
    Py_INCREF(float64);
    return PyArray_NewFromDescr(&PyArray_Type, float64, (int)nd, dims, NULL, NULL, 0, NULL);
}

static PyObject *filled(W n, const double *from)
{
    PyObject *x = new_array(1, n, 0, 0);
    if (x) memcpy(PyArray_DATA((PyArrayObject *)x), from, 8 * (size_t)n);
    return x;
}

static int all_finite(const double *x, W n)
{
    for (W i = 0; i < n; i++)
        if (!isfinite(x[i])) return 0;
    return 1;
}

static int overlap(const void *a, W bytes_a, const void *b, W bytes_b)
{
    return (const char *)a < (const char *)b + bytes_b && (const char *)b < (const char *)a + bytes_a;
}

/* Return whether watched words have the expected values.  The order ensures that each word is safe to read. */
static int unchanged(const W *row)
{
    for (W n = *row++; n > 0; n--, row += 3)
        if (WORD_AT(WORD_AT(row[0]) + row[1]) != row[2]) return 0;
    return 1;
}

enum { STATE_BUFFERS = 5, LOST = 1 + STATE_BUFFERS }; /* status words: any, one per buffer, lost; see owed.py */

/* Store the state of a call that owes members, given the operands p of the step `note`.  Members that are still owed
   for another state in the buffer are lost.  Return whether the status words must change; usually they need not. */
static int note(const W *p)
{
    W slot = 1 + p[1], clears = p[2], owes = p[3], spoils = p[4], *words = PLACE(W, p[6]);
    double *to = NUMBERS_AT(p[8]);
    W before = words[slot], stays = before & ~clears;
    int changes = before != owes || (words[LOST] & clears) != spoils || (words[0] & clears) != (owes | spoils);
    int lost = changes && before && !stays;
    for (int i = 9; i < 15; i += 2) {
        size_t size = 8 * (size_t)p[i];
        if (!size) continue;
        const double *from = NUMBERS_AT(WORD_AT(p[i + 1]));
        if (changes && stays && memcmp(to, from, size)) lost = 1;
        memcpy(to, from, size);
        to += p[i];
    }
    if (lost) words[LOST] |= before, words[slot] = 0;
    return changes;
}

/* Update the status words after the kernel. */
static void owe(const W *p)
{
    W *words = PLACE(W, p[6]), any = 0;
    for (int i = 1; i <= LOST; i++) words[i] &= ~p[2];
    words[1 + p[1]] |= p[3], words[LOST] |= p[4];
    for (int i = 1; i <= LOST; i++) any |= words[i];
    words[0] = any;
}

/* Return the argument `out`, or a new array.  `out` must not overlap the three inputs (position, size, word). */
static PyObject *out_of(PyObject *const *given, const W *p)
{
    PyArrayObject *a = (PyArrayObject *)given[p[1]];
    W nd = p[2], size = p[3];
    if (!a) return new_array(nd, size, size, 0);
    if (!PyArray_CheckExact((PyObject *)a) || PyArray_NDIM(a) != nd || !is_double(a, WRITABLE)) return NULL;
    for (int i = 0; i < nd; i++)
        if (PyArray_DIM(a, i) != size) return NULL;
    for (int i = 5; i < 14; i += 3) {
        PyObject *x = given[p[i]];
        const void *from = p[i + 1] ? NUMBERS_AT(WORD_AT(p[i + 2])) : NULL;
        if (!from) continue;
        if (overlap(PyArray_DATA(a), PyArray_NBYTES(a), from, 8 * p[i + 1])) return NULL;
        /* `out` can overlap the original of a converted array; only the Python function checks this. */
        if (x && PyArray_CheckExact(x) && PyArray_DATA((PyArrayObject *)x) != from) return NULL;
    }
    return Py_NewRef((PyObject *)a);
}

static int truth_of(PyObject *x)
{
    W n = PyBool_Check(x) ? x == Py_True : index_of(x);
    return n < 0 ? -1 : n != 0;
}

static int make_units(W count, const W *pairs, double *x)
{
    for (W i = 0; i < count; i++) {
        double *y = x + pairs[2 * i], total = 0.0;
        for (W k = 0; k < pairs[2 * i + 1]; k++) total += y[k] * y[k];
        double norm = sqrt(total);
        if (!(norm > sqrt(2.2250738585072014e-308) && norm < INFINITY)) return 0;
        for (W k = 0; k < pairs[2 * i + 1]; k++) y[k] /= norm;
    }
    return 1;
}

/* Return whether numbers are multiples of turns.  A turn is 2 pi, or a huge number if the coordinate has no period. */
static int whole_turns(W n, const W *places, const double *turns, const double *x)
{
    for (W i = 0; i < n; i++)
        if (!(fabs(x[places[i]] - nearbyint(x[places[i]] / turns[i]) * turns[i]) < SAME_POSE)) return 0;
    return 1;
}

/* Return the address of the bytes of a mask, or 0 if x is not a mask of n bool. */
static W mask_of(PyObject *x, W n)
{
    PyArrayObject *a = (PyArrayObject *)x;
    if (!PyArray_CheckExact(x) || PyArray_TYPE(a) != NPY_BOOL || PyArray_NDIM(a) != 1) return 0;
    return PyArray_DIM(a, 0) == n && PyArray_IS_C_CONTIGUOUS(a) ? (W)(intptr_t)PyArray_DATA(a) : 0;
}

static int has_items(PyObject *x, PyObject *known)
{
    Py_ssize_t n = PyTuple_GET_SIZE(known);
    if (!is_list(x) || PySequence_Fast_GET_SIZE(x) != n) return 0;
    return !n || !memcmp(PySequence_Fast_ITEMS(x), PySequence_Fast_ITEMS(known), sizeof(PyObject *) * (size_t)n);
}

/* Return whether Pinocchio can read an array without conversion; all strides are allowed. */
static int is_for_pinocchio(PyObject *x)
{
    PyArrayObject *a = (PyArrayObject *)x;
    if (!PyArray_CheckExact(x) || !PyArray_ISALIGNED(a) || !PyArray_ISNOTSWAPPED(a)) return 0;
    return PyArray_TYPE(a) == NPY_DOUBLE || PyArray_TYPE(a) == NPY_FLOAT;
}

/* Return the argument if kernels (or, if `for_pinocchio`, Pinocchio) can read it; otherwise return a converted copy. */
static PyObject *vector_of(PyObject *x, W for_pinocchio, W n, double *buffer)
{
    const double *from = numbers_of(x, n, buffer);
    if (!from) return NULL;
    if (from != buffer) return Py_NewRef(x);
    /* Pinocchio accepts shape (n, 1) as a vector, but not shape (1, n). */
    return for_pinocchio && is_for_pinocchio(x) && PyArray_DIM((PyArrayObject *)x, 0) == n ? Py_NewRef(x) : filled(n, buffer);
}

static PyObject *call_python(const W *p, PyObject *const *given, PyObject *const *made, int count)
{
    PyObject *arguments[5];
    for (W i = 0; i < p[2]; i++) {
        W x = p[3 + i], result = x - MOST_ARGUMENTS;
        arguments[i] = x < MOST_ARGUMENTS ? given[x] : result >= MOST_MADE ? PLACE(PyObject, x) : result < count ? made[result] : NULL;
        if (!arguments[i]) return NULL;
    }
    return PyObject_Vectorcall(PLACE(PyObject, p[1]), arguments, (size_t)p[2], NULL);
}

/* Return the results from index `first` on: None, one object, or a tuple. */
static PyObject *given_back(PyObject *const *made, int count, W first)
{
    if (count <= first) Py_RETURN_NONE;
    if (count == first + 1) return Py_NewRef(made[first]);
    PyObject *all = PyTuple_New(count - first);
    for (W i = first; all && i < count; i++) PyTuple_SET_ITEM(all, i - first, Py_NewRef(made[i]));
    return all;
}

#define NEED(condition) \
    if (!(condition)) goto python
#define NEXT(step) /* The size is a constant, because a lookup would delay the next step. */ \
    p += SIZE_##step; \
    continue

#define EACH(step, assignment) \
    case STEP_##step: { \
        const double *x = NUMBERS_AT(WORD_AT(p[3])), *y = NUMBERS_AT(WORD_AT(p[4])); \
        double *to = NUMBERS_AT(WORD_AT(p[5])); \
        (void)y; \
        for (W i = 0; i < p[1]; i++) { \
            W k = PLACE(W, p[2])[i]; \
            assignment; \
        } \
        NEXT(step); \
    }

/* Return the result of a call; NULL without an exception if the Python function must run. */
static PyObject *run_plan(const Plan *plan, PyObject *const *given)
{
    PyObject *made[MOST_MADE], *answer = NULL, *x;
    const W *p = plan->code, *noted = NULL;
    const double *from;
    int count = 0, changes = 0;
    for (;;) {
        switch (*p) {
        case STEP_numbers:
            if (!(from = numbers_in_place(given[p[1]], p[2])))
                NEED((from = numbers_of(given[p[1]], p[2], NUMBERS_AT(p[3]))));
            WORD_AT(p[4]) = (W)(intptr_t)from;
            NEXT(numbers);
        case STEP_matrix:
            NEED((x = given[p[1]]) && p[2] && (from = matrix_of(x, p[2], p[3] / p[2], NUMBERS_AT(p[4]))));
            WORD_AT(p[5]) = (W)(intptr_t)from;
            NEXT(matrix);
        case STEP_forces: NEED((x = given[p[1]]) && copy_forces(x, p[2], NUMBERS_AT(p[4]))); NEXT(forces);
        case STEP_mask: NEED((x = given[p[1]]) && (WORD_AT(p[3]) = mask_of(x, p[2]))); NEXT(mask);
        case STEP_placement: NEED((x = given[p[1]]) && copy_placement(x, NUMBERS_AT(p[3]))); NEXT(placement);
        case STEP_object: {
            const W *holder = (x = given[p[1]]) ? holder_of(x, PLACE(PyTypeObject, p[2]), p[3]) : NULL;
            NEED(holder);
            memcpy(PLACE(W, p[6]), holder + p[4], 8 * (size_t)p[5]);
            NEXT(object);
        }
        case STEP_index: {
            W i = (x = given[p[1]]) ? index_of(x) : -1;
            NEED(i >= 0 && i < p[2]);
            WORD_AT(p[4]) = i + p[3];
            NEXT(index);
        }
        case STEP_choice:
            NEED((x = given[p[1]]) ? Py_TYPE(x) == PLACE(PyTypeObject, p[2]) : p[3] >= 0);
            WORD_AT(p[4]) = x ? PyLong_AsLongLong(x) : p[3];
            NEXT(choice);
        case STEP_real: NEED((x = given[p[1]]) && read_number(x, NUMBERS_AT(p[2]))); NEXT(real);
        case STEP_rows:
            NEED((x = given[p[1]]) && PyArray_CheckExact(x) && PyArray_NDIM((PyArrayObject *)x) == 2);
            NEED(PyArray_DIM((PyArrayObject *)x, 0) == p[2] && is_for_pinocchio(x));
            NEXT(rows);
        case STEP_member:
            NEED(!(x = given[p[1]]) || Py_TYPE(x) == PLACE(PyTypeObject, p[2]));
            NEED((x ? PyLong_AsLongLong(x) : p[4]) == p[3]);
            NEXT(member);
        case STEP_flag: NEED(((x = given[p[1]]) ? truth_of(x) : p[3]) == p[2]); NEXT(flag);
        case STEP_truth: NEED((x = given[p[1]]) && truth_of(x) >= 0); NEXT(truth);
        case STEP_same: NEED(given[p[1]] == PLACE(PyObject, p[2])); NEXT(same);
        case STEP_items: NEED((x = given[p[1]]) && has_items(x, PLACE(PyObject, p[2]))); NEXT(items);
        case STEP_unchanged: NEED(unchanged(PLACE(W, p[2]))); NEXT(unchanged);
        case STEP_owes: NEED(!(WORD_AT(p[1]) & p[2])); NEXT(owes);
        case STEP_equal: NEED(WORD_AT(p[1]) == p[2]); NEXT(equal);
        case STEP_reaches: NEED(*NUMBERS_AT(p[1]) >= (double)p[2]); NEXT(reaches);
        case STEP_at_most: NEED(*NUMBERS_AT(p[1]) <= (double)p[2]); NEXT(at_most);
        case STEP_finite: NEED(all_finite(NUMBERS_AT(WORD_AT(p[2])), p[1])); NEXT(finite);
        case STEP_apart: NEED(!overlap(NUMBERS_AT(WORD_AT(p[2])), 8 * p[1], NUMBERS_AT(p[4]), 8 * p[3])); NEXT(apart);
        case STEP_alike: NEED(!memcmp(NUMBERS_AT(p[2]), NUMBERS_AT(p[3]), 8 * (size_t)p[1])); NEXT(alike);
        case STEP_unless: p += WORD_AT(p[1]) == p[2] ? p[3] : 0; NEXT(unless);
        case STEP_run: NEED(run_kernel(p[1], PLACE(W, p[3]), p[2])); NEXT(run);
        case STEP_note: changes = note(noted = p); NEXT(note);
        case STEP_owe:
            if (changes) owe(noted);
            NEXT(owe);
        case STEP_copy: memcpy(NUMBERS_AT(p[2]), NUMBERS_AT(p[3]), 8 * (size_t)p[1]); NEXT(copy);
        case STEP_save: memmove(NUMBERS_AT(p[2]), NUMBERS_AT(WORD_AT(p[3])), 8 * (size_t)p[1]); NEXT(save);
        case STEP_move: memmove(NUMBERS_AT(WORD_AT(p[3])), NUMBERS_AT(WORD_AT(p[2])), 8 * (size_t)p[1]); NEXT(move);
        case STEP_set: WORD_AT(p[1]) = p[2]; NEXT(set);
        case STEP_sum: *NUMBERS_AT(p[3]) = *NUMBERS_AT(p[1]) + *NUMBERS_AT(p[2]); NEXT(sum);
        case STEP_scale: {
            double *y = NUMBERS_AT(WORD_AT(p[2])), factor = *NUMBERS_AT(p[3]);
            for (W i = 0; i < p[1]; i++) y[i] *= factor;
            NEXT(scale);
        }
        case STEP_bounds: {
            double *low = NUMBERS_AT(WORD_AT(p[3])), *high = NUMBERS_AT(WORD_AT(p[4]));
            for (W i = 0; i < p[1]; i++) {
                int free = NUMBERS_AT(p[2])[i] == 0.0;
                if (free) low[i] = -1.0, high[i] = 1.0;
                NEED(low[i] <= high[i] && fabs(low[i]) < UNLIMITED && fabs(high[i]) < UNLIMITED);
            }
            NEXT(bounds);
        }
        case STEP_fresh:
            NEED((x = new_array(p[1], p[2], p[3], p[4])));
            made[count++] = x;
            WORD_AT(p[5]) = (W)(intptr_t)PyArray_DATA((PyArrayObject *)x);
            NEXT(fresh);
        case STEP_out:
            NEED((x = out_of(given, p)));
            made[count++] = x;
            WORD_AT(p[4]) = (W)(intptr_t)PyArray_DATA((PyArrayObject *)x);
            NEXT(out);
        case STEP_copied:
            NEED((x = new_array(p[1], p[2], p[3], p[4])));
            made[count++] = x;
            NEED(PyArray_SIZE((PyArrayObject *)x) == p[5]);
            memcpy(PyArray_DATA((PyArrayObject *)x), NUMBERS_AT(p[6]), 8 * (size_t)p[5]);
            NEXT(copied);
        case STEP_number:
            NEED((x = PyFloat_FromDouble(*NUMBERS_AT(p[1]))));
            made[count++] = x;
            NEXT(number);
        case STEP_thing: made[count++] = Py_NewRef(PLACE(PyObject, p[1])); NEXT(thing);
        case STEP_call:
            NEED((x = call_python(p, given, made, count)));
            made[count++] = x;
            NEXT(call);
        case STEP_vector:
            NEED((x = vector_of(given[p[1]], p[2], p[3], NUMBERS_AT(p[4]))));
            made[count++] = x;
            NEXT(vector);
        case STEP_result: {
            NEED(p[1] < count && PyArray_CheckExact(made[p[1]]));
            PyArrayObject *a = (PyArrayObject *)made[p[1]];
            NEED(PyArray_NDIM(a) == 1 && PyArray_DIM(a, 0) == p[2] && is_double(a, READABLE));
            WORD_AT(p[3]) = (W)(intptr_t)PyArray_DATA(a);
            NEXT(result);
        }
        case STEP_drop:
            NEED(count > 0);
            Py_DECREF(made[--count]);
            NEXT(drop);
        case STEP_give: answer = given_back(made, count, p[1]); goto end;
        case STEP_zero: memset(NUMBERS_AT(WORD_AT(p[2])), 0, 8 * (size_t)p[1]); NEXT(zero);
        EACH(gather, to[i] = x[k])
        EACH(scatter, to[k] = x[i])
        EACH(same_places, to[k] = x[k])
        EACH(plus, to[k] = x[k] + y[i])
        EACH(minus, to[i] = x[k] - y[k])
        case STEP_affine: {
            double *to = NUMBERS_AT(WORD_AT(p[9]));
            from = NUMBERS_AT(WORD_AT(p[8]));
            for (W i = 0; i < p[1]; i++) to[PLACE(W, p[2])[i]] = NUMBERS_AT(p[3])[i];
            for (W i = 0; i < p[4]; i++) /* in order, for the same rounding as in NumPy's add.at */
                to[PLACE(W, p[5])[i]] += NUMBERS_AT(p[7])[i] * from[PLACE(W, p[6])[i]];
            NEXT(affine);
        }
        case STEP_turns: NEED(whole_turns(p[1], PLACE(W, p[2]), NUMBERS_AT(p[3]), NUMBERS_AT(WORD_AT(p[4])))); NEXT(turns);
        case STEP_units: NEED(make_units(p[1], PLACE(W, p[3]), NUMBERS_AT(WORD_AT(p[4])))); NEXT(units);
        case STEP_near:
            from = NUMBERS_AT(WORD_AT(p[3]));
            for (W i = 0; i < p[1]; i++) NEED(fabs(from[i] - NUMBERS_AT(p[2])[i]) <= FAR);
            NEXT(near);
        }
    }
python:
    if (PyErr_Occurred() && PyErr_ExceptionMatches(PyExc_Exception)) PyErr_Clear(); /* Python raises a better error */
end:
    while (count > 0) Py_DECREF(made[--count]);
    return answer;
}

/* ------------------------------------------------------------------ owners: data objects and models */

typedef struct {
    PyObject_HEAD
    PyObject *model;   /* of a data object: model that calls must pass; NULL: the Python function runs */
    PyObject **plans;  /* by function number: a tuple of plans, or NULL */
    W *made_at;        /* by function number: `compiled_count` when the plans were written */
    Py_ssize_t size;
} Owner;

typedef struct {
    PyObject_HEAD
    vectorcallfunc vectorcall;
    PyObject *function, *dict, *weak; /* the Python function */
    PyObject *names;                  /* names of arguments, each followed by its position */
    Py_ssize_t number, by_position, positions, owner_at, python_calls;
    long long optional; /* bit mask of the arguments whose default is None */
} Function;

static Py_ssize_t function_count;

/* Allocate memory for the plans of all functions. */
static int reserve(Owner *owner, Py_ssize_t number)
{
    if (number < owner->size) return 0;
    PyObject **plans = PyMem_Realloc(owner->plans, sizeof(PyObject *) * (size_t)function_count);
    if (plans) owner->plans = plans;
    W *made_at = plans ? PyMem_Realloc(owner->made_at, sizeof(W) * (size_t)function_count) : NULL;
    if (!made_at) return PyErr_NoMemory(), -1;
    owner->made_at = made_at;
    for (; owner->size < function_count; owner->size++) plans[owner->size] = NULL, made_at[owner->size] = -1;
    return 0;
}

static void put_plans(Owner *owner, Py_ssize_t number, PyObject *plans)
{
    PyObject *before = owner->plans[number];
    owner->plans[number] = plans;
    Py_XDECREF(before);
}

/* Delete the plans of all functions. */
static int owner_clear(PyObject *self)
{
    Owner *owner = (Owner *)self;
    for (Py_ssize_t i = 0; i < owner->size; i++) {
        owner->made_at[i] = -1;
        put_plans(owner, i, NULL);
    }
    return 0;
}

static int owner_tp_clear(PyObject *self)
{
    Py_CLEAR(((Owner *)self)->model);
    return owner_clear(self);
}

static int owner_traverse(PyObject *self, visitproc visit, void *arg)
{
    Owner *owner = (Owner *)self;
    Py_VISIT(Py_TYPE(self));
    Py_VISIT(owner->model);
    for (Py_ssize_t i = 0; i < owner->size; i++) Py_VISIT(owner->plans[i]);
    return 0;
}

static void owner_dealloc(PyObject *self)
{
    PyTypeObject *type = Py_TYPE(self);
    PyObject_GC_UnTrack(self);
    owner_tp_clear(self);
    PyMem_Free(((Owner *)self)->plans);
    PyMem_Free(((Owner *)self)->made_at);
    type->tp_free(self);
    Py_DECREF(type);
}

/* _accept_model(model): use plans only if a call passes this model; None: never use plans. */
static PyObject *owner_accept(PyObject *self, PyObject *model)
{
    PyObject *before = ((Owner *)self)->model;
    ((Owner *)self)->model = model == Py_None ? NULL : Py_NewRef(model);
    Py_XDECREF(before);
    Py_RETURN_NONE;
}

/* _forget_plans(function=None): delete the plans of one function, or all plans. */
static PyObject *owner_forget(PyObject *self, PyObject *args)
{
    PyObject *function = NULL;
    if (!PyArg_ParseTuple(args, "|O", &function)) return NULL;
    if (!function)
        owner_clear(self);
    else if (Py_TYPE(function) == Function_type && ((Function *)function)->number < ((Owner *)self)->size)
        put_plans((Owner *)self, ((Function *)function)->number, NULL);
    Py_RETURN_NONE;
}

/* Return whether x is a plan that reads only argument positions of the function; if not, set TypeError. */
static int is_plan_of(PyObject *x, const Function *f)
{
    if (Py_TYPE(x) == Plan_type && ((Plan *)x)->positions <= f->positions) return 1;
    PyErr_Format(PyExc_TypeError, "%R is no plan of %R", x, (PyObject *)f);
    return 0;
}

/* Return the plans of `first`, then from `second` up to `most` remembered plans and, if `others`, all other plans. */
static PyObject *joined(PyObject *first, PyObject *second, Py_ssize_t most, int others)
{
    PyObject *list = PySequence_List(first), *plans;
    for (Py_ssize_t i = 0; list && second && i < PyTuple_GET_SIZE(second); i++) {
        PyObject *plan = PyTuple_GET_ITEM(second, i);
        if ((((Plan *)plan)->remembered ? most-- > 0 : others) && PyList_Append(list, plan) < 0) Py_CLEAR(list);
    }
    plans = list ? PyList_AsTuple(list) : NULL;
    Py_XDECREF(list);
    return plans;
}

/* _remember_plan(function, plan, most): add a plan, which is tried first; keep at most `most` remembered plans. */
static PyObject *owner_remember(PyObject *self, PyObject *args)
{
    Owner *owner = (Owner *)self;
    Function *function;
    PyObject *plan, *first, *plans;
    Py_ssize_t most;
    if (!PyArg_ParseTuple(args, "O!O!n", Function_type, &function, Plan_type, &plan, &most)) return NULL;
    if (!is_plan_of(plan, function) || reserve(owner, function->number) < 0 || !(first = PyTuple_Pack(1, plan))) return NULL;
    ((Plan *)plan)->remembered = 1;
    plans = joined(first, owner->plans[function->number], most - 1, 1);
    Py_DECREF(first);
    if (!plans) return NULL;
    put_plans(owner, function->number, plans);
    Py_RETURN_NONE;
}

static PyMethodDef owner_methods[] = {
    {"_accept_model", owner_accept, METH_O, "Take calls that name this model; None: leave all calls to Python."},
    {"_forget_plans", owner_forget, METH_VARARGS, "Forget the plans of a function, or all plans."},
    {"_remember_plan", owner_remember, METH_VARARGS, "Try a plan before the others of a function; keep at most so many."},
    {0}};
static PyType_Slot owner_slots[] = {
    {Py_tp_methods, owner_methods}, {Py_tp_traverse, owner_traverse}, {Py_tp_clear, owner_tp_clear},
    {Py_tp_dealloc, owner_dealloc}, {0, NULL}};
static PyType_Spec owner_spec = {"pin_clusters._native.Owner", sizeof(Owner), 0,
                                 Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE | Py_TPFLAGS_HAVE_GC, owner_slots};

static PyType_Slot plan_slots[] = {
    {Py_tp_new, plan_new}, {Py_tp_traverse, plan_traverse}, {Py_tp_dealloc, plan_dealloc}, {0, NULL}};
static PyType_Spec plan_spec = {"pin_clusters._native.Plan", sizeof(Plan), 0,
                                Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC | Py_TPFLAGS_IMMUTABLETYPE, plan_slots};

/* ------------------------------------------------------------------ functions */

/* Sort arguments by position; return the bit mask of the passed arguments, or -1 for a wrong signature. */
static W sorted(const Function *f, PyObject *const *args, Py_ssize_t n, PyObject *kwnames, PyObject **given)
{
    W bits = 0;
#define TAKE(x, at) \
    if ((given[at] = (x) == Py_None && f->optional >> (at) & 1 ? NULL : (x))) bits |= (W)1 << (at)
    if (n > f->by_position) return -1;
    for (Py_ssize_t i = 0; i < n; i++) TAKE(args[i], i);
    for (Py_ssize_t i = n; i < f->positions; i++)
        *(PyObject *volatile *)&given[i] = NULL; /* memset would be slower for two or three items */
    for (Py_ssize_t k = 0; kwnames && k < PyTuple_GET_SIZE(kwnames); k++) {
        PyObject *name = PyTuple_GET_ITEM(kwnames, k), *known;
        Py_ssize_t all = PyTuple_GET_SIZE(f->names), i = 0;
        for (; i < all; i += 2) { /* Names are almost always interned, so pointers are compared first. */
            known = PyTuple_GET_ITEM(f->names, i);
            if (known == name || (PyUnicode_GET_LENGTH(known) == PyUnicode_GET_LENGTH(name) && !PyUnicode_Compare(known, name)))
                break;
        }
        if (i >= all) return -1;
        W at = PyLong_AsLongLong(PyTuple_GET_ITEM(f->names, i + 1));
        if (at < n || bits & (W)1 << at) return -1; /* passed twice */
        TAKE(args[n + k], at);
    }
    return bits;
}

static Owner *owner_of(const Function *f, PyObject *const *given)
{
    static PyTypeObject *seen[2]; /* cached classes, never released, because PyObject_TypeCheck is slow */
    PyObject *x = given[f->owner_at];
    if (!x && f->owner_at) { /* If data is omitted, the model can have plans. */
        x = given[0];
        return x && PyObject_TypeCheck(x, Owner_type) && !((Owner *)x)->model ? (Owner *)x : NULL;
    }
    if (!x) return NULL;
    if (Py_TYPE(x) != seen[f->owner_at]) {
        if (!PyObject_TypeCheck(x, Owner_type)) return NULL;
        Py_XSETREF(seen[f->owner_at], (PyTypeObject *)Py_NewRef((PyObject *)Py_TYPE(x)));
    }
    return f->owner_at == 0 || (given[0] && ((Owner *)x)->model == given[0]) ? (Owner *)x : NULL;
}

/* Let the owner write the plans of a function again, because new code has been compiled since. */
static int renew(Owner *owner, Function *f)
{
    W now = compiled_count;
    PyObject *plans;
    if (reserve(owner, f->number) < 0) return -1;
    owner->made_at[f->number] = now; /* set first, because `_plans_of` may call the function */
    if (!(plans = PyObject_CallMethod((PyObject *)owner, "_plans_of", "O", (PyObject *)f))) return -1;
    if (!PyTuple_CheckExact(plans)) {
        Py_DECREF(plans);
        return PyErr_Format(PyExc_TypeError, "_plans_of must return a tuple"), -1;
    }
    for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(plans); i++)
        if (!is_plan_of(PyTuple_GET_ITEM(plans, i), f)) {
            Py_DECREF(plans);
            return -1;
        }
    PyObject *all = joined(plans, owner->plans[f->number], PY_SSIZE_T_MAX, 0);
    Py_DECREF(plans);
    if (!all) return -1;
    put_plans(owner, f->number, all);
    return 0;
}

static PyObject *function_call(PyObject *self, PyObject *const *args, size_t nargsf, PyObject *kwnames)
{
    Function *f = (Function *)self;
    PyObject *given[MOST_ARGUMENTS], *answer = NULL;
    W bits = sorted(f, args, PyVectorcall_NARGS(nargsf), kwnames, given);
    Owner *owner = bits < 0 ? NULL : owner_of(f, given);
    if (owner && f->number < owner->size && owner->plans[f->number]) {
        PyObject *plans = Py_NewRef(owner->plans[f->number]); /* Functions that a plan calls may replace the plans. */
        Py_BEGIN_CRITICAL_SECTION((PyObject *)owner);
        for (Py_ssize_t i = 0; !answer && i < PyTuple_GET_SIZE(plans); i++) {
            const Plan *plan = (Plan *)PyTuple_GET_ITEM(plans, i);
            if ((bits & plan->required) != plan->required || bits & ~plan->allowed) continue;
            if (!(answer = run_plan(plan, given)) && PyErr_Occurred()) break;
        }
        Py_END_CRITICAL_SECTION();
        Py_DECREF(plans);
        if (answer || PyErr_Occurred()) return answer;
    }
    f->python_calls++;
    answer = PyObject_Vectorcall(f->function, args, nargsf, kwnames);
    if (answer && owner && (f->number >= owner->size || owner->made_at[f->number] != compiled_count) &&
        renew(owner, f) < 0)
        Py_CLEAR(answer);
    return answer;
}

/* Function(function, names and positions, number of arguments that can be passed by position, position of the owner of
   the plans, bit mask of the arguments whose default is None) */
static PyObject *function_new(PyTypeObject *type, PyObject *args, PyObject *named)
{
    PyObject *function, *names;
    Py_ssize_t by_position, owner_at, positions;
    long long optional;
    if ((named && PyDict_GET_SIZE(named)) ||
        !PyArg_ParseTuple(args, "OO!nnL", &function, &PyTuple_Type, &names, &by_position, &owner_at, &optional))
        return PyErr_Occurred() ? NULL : PyErr_Format(PyExc_TypeError, "Function takes no keywords");
    if (by_position < 0 || by_position > MOST_ARGUMENTS || owner_at < 0 || owner_at > 1 || PyTuple_GET_SIZE(names) % 2)
        return PyErr_Format(PyExc_ValueError, "Function: no such form");
    positions = Py_MAX(by_position, 2);
    for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(names); i += 2) {
        PyObject *at = PyTuple_GET_ITEM(names, i + 1);
        positions = Py_MAX(positions, index_of(at) + 1);
        if (!PyUnicode_CheckExact(PyTuple_GET_ITEM(names, i)) || !PyLong_CheckExact(at) || index_of(at) < 0 ||
            index_of(at) >= MOST_ARGUMENTS)
            return PyErr_Format(PyExc_ValueError, "Function: no such position: %R", at);
    }
    Function *f = (Function *)type->tp_alloc(type, 0);
    if (!f) return NULL;
    f->vectorcall = function_call, f->function = Py_NewRef(function), f->names = Py_NewRef(names);
    f->by_position = by_position, f->positions = positions, f->owner_at = owner_at, f->optional = optional;
    f->number = function_count++;
    return (PyObject *)f;
}

static int function_traverse(PyObject *self, visitproc visit, void *arg)
{
    Py_VISIT(Py_TYPE(self));
    Py_VISIT(((Function *)self)->function);
    Py_VISIT(((Function *)self)->dict);
    return 0;
}

static int function_clear(PyObject *self)
{
    Py_CLEAR(((Function *)self)->dict); /* `function` is kept, because finalizers may call it */
    return 0;
}

static void function_dealloc(PyObject *self)
{
    Function *f = (Function *)self;
    PyTypeObject *type = Py_TYPE(self);
    PyObject_GC_UnTrack(self);
    if (f->weak) PyObject_ClearWeakRefs(self);
    function_clear(self);
    Py_CLEAR(f->function);
    Py_CLEAR(f->names);
    type->tp_free(self);
    Py_DECREF(type);
}

/* Like Python's builtins, functions are pickled by name and do not become methods as attributes of a class. */
static PyObject *function_reduce(PyObject *self, PyObject *unused)
{
    (void)unused;
    return PyObject_GetAttrString(self, "__qualname__");
}

static PyObject *function_get(PyObject *self, PyObject *instance, PyObject *type)
{
    (void)instance, (void)type;
    return Py_NewRef(self);
}

static PyObject *function_repr(PyObject *self)
{
    PyObject *name = PyObject_GetAttrString(self, "__qualname__");
    PyObject *text = name ? PyUnicode_FromFormat("<function %U>", name) : NULL;
    Py_XDECREF(name);
    return text;
}

static PyMethodDef function_methods[] = {{"__reduce__", function_reduce, METH_NOARGS, NULL}, {0}};
static PyMemberDef function_members[] = {
    {"__vectorcalloffset__", T_PYSSIZET, offsetof(Function, vectorcall), READONLY, NULL},
    {"__dictoffset__", T_PYSSIZET, offsetof(Function, dict), READONLY, NULL},
    {"__weaklistoffset__", T_PYSSIZET, offsetof(Function, weak), READONLY, NULL},
    {"python_calls", T_PYSSIZET, offsetof(Function, python_calls), READONLY, "How many calls the Python function took."},
    {0}};
static PyGetSetDef function_getset[] = {{"__dict__", PyObject_GenericGetDict, PyObject_GenericSetDict, NULL, NULL}, {0}};
static PyType_Slot function_slots[] = {
    {Py_tp_new, function_new}, {Py_tp_call, PyVectorcall_Call}, {Py_tp_dealloc, function_dealloc},
    {Py_tp_repr, function_repr}, {Py_tp_traverse, function_traverse}, {Py_tp_clear, function_clear},
    {Py_tp_descr_get, function_get}, {Py_tp_methods, function_methods}, {Py_tp_members, function_members},
    {Py_tp_getset, function_getset}, {0, NULL}};
static PyType_Spec function_spec = {"pin_clusters._native.Function", sizeof(Function), 0,
                                    Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC | Py_TPFLAGS_HAVE_VECTORCALL, function_slots};

/* ------------------------------------------------------------------ questions: a simulation calls a user function */

typedef struct {
    PyObject_HEAD
    PyObject *function, *convert, *asked; /* user function; converter of its return value; array of t, q, v, tau */
    PyObject *given, *error;              /* last invalid return value; last exception */
    W nq, nv;
} Question;

/* Question(function, convert, asked, nq, nv) */
static PyObject *question_new(PyTypeObject *type, PyObject *args, PyObject *named)
{
    PyObject *function, *convert, *asked;
    long long nq, nv;
    if ((named && PyDict_GET_SIZE(named)) ||
        !PyArg_ParseTuple(args, "OOO!LL", &function, &convert, &PyArray_Type, &asked, &nq, &nv))
        return PyErr_Occurred() ? NULL : PyErr_Format(PyExc_TypeError, "Question takes no keywords");
    npy_intp size = PyArray_SIZE((PyArrayObject *)asked);
    if (nq < 0 || nv < 0 || nq > size || nv > size || size < 1 + nq + 2 * nv || !is_double((PyArrayObject *)asked, WRITABLE))
        return PyErr_Format(PyExc_ValueError, "Question: asked must be a writable float64 array with 1 + nq + 2 nv entries");
    Question *question = (Question *)type->tp_alloc(type, 0);
    if (!question) return NULL;
    question->function = Py_NewRef(function), question->convert = Py_NewRef(convert);
    question->asked = Py_NewRef(asked), question->nq = nq, question->nv = nv;
    return (PyObject *)question;
}

static int take_torques(PyObject *x, W nv, double *to)
{
    const double *from = x && PyArray_CheckExact(x) && PyArray_NDIM((PyArrayObject *)x) == 1 ? numbers_of(x, nv, to) : NULL;
    if (from && from != to) memmove(to, from, 8 * (size_t)nv);
    return from != NULL;
}

/* Compute torques; return 0 on success.  A kernel that holds the interpreter lock passes the address of a question. */
static W ask(W address)
{
    Question *question = PLACE(Question, address);
    double *asked = PyArray_DATA((PyArrayObject *)question->asked), *tau = asked + 1 + question->nq + question->nv;
    PyObject *t = PyFloat_FromDouble(*asked), *q = filled(question->nq, asked + 1);
    PyObject *v = filled(question->nv, asked + 1 + question->nq), *given = NULL, *converted = NULL;
    int done = 0;
    if (t && q && v) given = PyObject_CallFunctionObjArgs(question->function, t, q, v, NULL);
    if (given && !(done = take_torques(given, question->nv, tau))) {
        converted = PyObject_CallOneArg(question->convert, given);
        done = take_torques(converted, question->nv, tau);
    }
    if (!done && PyErr_Occurred()) {
#if PY_VERSION_HEX >= 0x030C0000
        Py_XSETREF(question->error, PyErr_GetRaisedException());
#else
        PyObject *type, *error, *traceback;
        PyErr_Fetch(&type, &error, &traceback);
        PyErr_NormalizeException(&type, &error, &traceback);
        if (traceback) PyException_SetTraceback(error, traceback);
        Py_XDECREF(type);
        Py_XDECREF(traceback);
        Py_XSETREF(question->error, error);
#endif
    } else if (!done)
        Py_XSETREF(question->given, Py_XNewRef(given));
    Py_XDECREF(t);
    Py_XDECREF(q);
    Py_XDECREF(v);
    Py_XDECREF(given);
    Py_XDECREF(converted);
    return !done;
}

static int question_traverse(PyObject *self, visitproc visit, void *arg)
{
    Question *question = (Question *)self;
    Py_VISIT(Py_TYPE(self));
    Py_VISIT(question->function);
    Py_VISIT(question->convert);
    Py_VISIT(question->given);
    Py_VISIT(question->error);
    return 0;
}

static int question_clear(PyObject *self)
{
    Question *question = (Question *)self;
    Py_CLEAR(question->given);
    Py_CLEAR(question->error);
    return 0;
}

static void question_dealloc(PyObject *self)
{
    Question *question = (Question *)self;
    PyTypeObject *type = Py_TYPE(self);
    PyObject_GC_UnTrack(self);
    question_clear(self);
    Py_CLEAR(question->function);
    Py_CLEAR(question->convert);
    Py_CLEAR(question->asked);
    type->tp_free(self);
    Py_DECREF(type);
}

static PyMemberDef question_members[] = {
    {"given", T_OBJECT_EX, offsetof(Question, given), 0, "The last invalid return value of the function, if any."},
    {"error", T_OBJECT_EX, offsetof(Question, error), 0, "The last exception of the function, if any."},
    {"asked", T_OBJECT_EX, offsetof(Question, asked), READONLY, "t, q, v, then tau."}, {0}};
static PyType_Slot question_slots[] = {
    {Py_tp_new, question_new}, {Py_tp_traverse, question_traverse}, {Py_tp_clear, question_clear},
    {Py_tp_dealloc, question_dealloc}, {Py_tp_members, question_members}, {0, NULL}};
static PyType_Spec question_spec = {"pin_clusters._native.Question", sizeof(Question), 0,
                                    Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC, question_slots};

/* ------------------------------------------------------------------ the module */

/* introduce(Force, StdVec_Force, SE3, holder_at, force, forces, placement, numbers): derive the memory layout of
   Pinocchio's objects from sample objects with known numbers.  Python converts classes with an unknown layout. */
static PyObject *introduce(PyObject *module, PyObject *args)
{
    PyTypeObject *Force, *Forces, *SE3;
    PyObject *force, *forces, *placement, *numbers;
    Py_ssize_t at;
    const W *holder;
    (void)module;
    if (!PyArg_ParseTuple(args, "O!O!O!nOOOO!", &PyType_Type, &Force, &PyType_Type, &Forces, &PyType_Type, &SE3, &at, &force,
                          &forces, &placement, &PyArray_Type, &numbers))
        return NULL;
    if (!is_double((PyArrayObject *)numbers, READABLE) || PyArray_SIZE((PyArrayObject *)numbers) != 18 ||
        Py_TYPE(force) != Force || Py_TYPE(forces) != Forces || Py_TYPE(placement) != SE3)
        return PyErr_Format(PyExc_TypeError, "introduce: expected one object of each class and 18 numbers");
    const double *six = PyArray_DATA((PyArrayObject *)numbers), *twelve = six + 6;
    boost.Force = (PyTypeObject *)Py_NewRef(Force), boost.Forces = (PyTypeObject *)Py_NewRef(Forces);
    boost.SE3 = (PyTypeObject *)Py_NewRef(SE3), boost.holder_at = at;
    holder = *(const W **)((char *)force + at);
    if (holder && !memcmp(holder + 2, six, 48)) boost.force_holder = *holder;
    holder = *(const W **)((char *)forces + at);
    if (holder && holder[3] - holder[2] == 48 && !memcmp(PLACE(double, holder[2]), six, 48)) boost.forces_holder = *holder;
    holder = *(const W **)((char *)placement + at);
    if (holder && !memcmp(holder + 2, twelve, 96)) boost.se3_holder = *holder;
    return Py_BuildValue("iii", boost.force_holder != 0, boost.forces_holder != 0, boost.se3_holder != 0);
}

/* compiled(): new code has been compiled, so more plans may be possible. */
static PyObject *compiled(PyObject *module, PyObject *unused)
{
    (void)module, (void)unused;
    compiled_count++;
    Py_RETURN_NONE;
}

static PyMethodDef methods[] = {
    {"introduce", introduce, METH_VARARGS, "Derive the memory layout of Pinocchio's objects from samples."},
    {"compiled", compiled, METH_NOARGS, "Report that new code has been compiled."}, {0}};

static int add_type(PyObject *module, PyTypeObject **type, PyType_Spec *spec)
{
    return (*type = (PyTypeObject *)PyType_FromSpec(spec)) ? PyModule_AddType(module, *type) : -1;
}

static int execute(PyObject *module)
{
    import_array1(-1);
    if (!(float64 = PyArray_DescrFromType(NPY_DOUBLE))) return -1;
    if (add_type(module, &Owner_type, &owner_spec) < 0 || add_type(module, &Plan_type, &plan_spec) < 0 ||
        add_type(module, &Function_type, &function_spec) < 0 || add_type(module, &Question_type, &question_spec) < 0)
        return -1;
    PyObject *address = PyLong_FromVoidPtr((void *)(intptr_t)ask);
    if (!address || PyModule_AddObjectRef(module, "ASK", address) < 0) return -1;
    Py_DECREF(address);
    return PyModule_AddIntConstant(module, "INTERFACE", INTERFACE);
}

static PyModuleDef_Slot slots[] = {
    {Py_mod_exec, execute},
#ifdef Py_mod_multiple_interpreters
    {Py_mod_multiple_interpreters, Py_MOD_MULTIPLE_INTERPRETERS_NOT_SUPPORTED},
#endif
#ifdef Py_mod_gil
    {Py_mod_gil, Py_MOD_GIL_NOT_USED},
#endif
    {0, NULL}};
static struct PyModuleDef definition = {PyModuleDef_HEAD_INIT, "_native", "The fast path to compiled kernels.", 0, methods,
                                        slots, NULL, NULL, NULL};
PyMODINIT_FUNC PyInit__native(void) { return PyModuleDef_Init(&definition); }
