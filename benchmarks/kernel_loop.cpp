// Pinocchio's constrained algorithms called in a loop from C++: what they take without the price of calls from Python.
// kernel_loop.py compiles it.
#include <pinocchio/multibody.hpp>
#include <pinocchio/serialization.hpp>
#include <pinocchio/algorithm/constrained-dynamics.hpp>
#include <pinocchio/algorithm/loop-constrained-aba.hpp>
#include <memory>

namespace {
using namespace pinocchio;
struct Bench {
  Model model;
  std::unique_ptr<Data> data;
  PINOCCHIO_STD_VECTOR_WITH_EIGEN_ALLOCATOR(RigidConstraintModel) contacts;
  PINOCCHIO_STD_VECTOR_WITH_EIGEN_ALLOCATOR(RigidConstraintData) contact_datas;
  ProximalSettings settings;
  Eigen::VectorXd q, v, tau, a;
  bool lcaba;
};
SE3 placement(const double * m) {
  Eigen::Matrix4d h;
  for (int i = 0; i < 16; ++i) h(i / 4, i % 4) = m[i];
  return SE3(h.topLeftCorner<3, 3>(), h.topRightCorner<3, 1>());
}
}  // namespace

extern "C" {
// contacts: per contact type (3 or 6), joint 1, joint 2, and two homogeneous matrices row by row: 35 numbers
void * make(const char * file, int n, const double * contacts, bool lcaba, double accuracy, double mu, int most,
            const double * q, const double * v, const double * tau) {
  auto b = new Bench;
  b->model.loadFromBinary(file);
  b->data.reset(new Data(b->model));
  b->lcaba = lcaba;
  for (int i = 0; i < n; ++i, contacts += 35) {
    b->contacts.push_back(RigidConstraintModel(contacts[0] == 3 ? CONTACT_3D : CONTACT_6D, b->model,
        JointIndex(contacts[1]), placement(contacts + 3), JointIndex(contacts[2]), placement(contacts + 19), LOCAL));
  }
  for (const auto & c : b->contacts) b->contact_datas.push_back(RigidConstraintData(c));
  b->settings = ProximalSettings(accuracy, mu, most);
  b->q = Eigen::Map<const Eigen::VectorXd>(q, b->model.nq);
  b->v = Eigen::Map<const Eigen::VectorXd>(v, b->model.nv);
  b->tau = Eigen::Map<const Eigen::VectorXd>(tau, b->model.nv);
  if (lcaba) computeJointMinimalOrdering(b->model, *b->data, b->contacts);
  else initConstraintDynamics(b->model, *b->data, b->contacts, b->contact_datas);
  return b;
}
// n calls; the last acceleration is left in out
int repeat(void * handle, long n, double * out) {
  auto & b = *static_cast<Bench *>(handle);
  for (long i = 0; i < n; ++i) {
    if (b.lcaba) lcaba(b.model, *b.data, b.q, b.v, b.tau, b.contacts, b.contact_datas, b.settings);
    else constraintDynamics(b.model, *b.data, b.q, b.v, b.tau, b.contacts, b.contact_datas, b.settings);
  }
  Eigen::Map<Eigen::VectorXd>(out, b.model.nv) = b.data->ddq;
  return b.settings.iter;
}
}
