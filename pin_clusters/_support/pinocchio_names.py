"""Names that only some releases and builds of Pinocchio from 3.8 on have.

Written by `benchmarks/names_of_pinocchio.py --write`.
"""

_GROUPS = {
    "3.8.0": """
        ADMMContactSolver PGSContactSolver PowerIterationAlgo SolverStats StdVec_CoulombFrictionCone
        StdVec_DualCoulombFrictionCone StdVec_FCL_CollisionObjectPointer StdVec_VectorXb
        computeComplementarityShift computeConeProjection computeContactForces computeDualConeProjection
        computePrimalFeasibility computeReprojectionError
    """,
    "4.1.0": """
        ADMMConstraintSolver ADMMProximalRule ADMMSolverResult ADMMSolverSettings ADMMSolverStats ADMMUpdateRule
        AUTOMATIC BoxSet BroadPhaseManagerPool_DynamicAABBTreeCollisionManager CONCRETE CONSTANT
        CollisionCallBackCollect ConstraintCholeskyDecomposition ConstraintData ConstraintModel
        ConstraintSelectionType DelassusOperatorCholeskyExpression DeprecatedBool FrameAnchorConstraintData
        FrameAnchorConstraintModel FrictionCoefficientMatrix FullSpaceCone GeometryPool ICE JointDataEllipsoid
        JointFrictionConstraintData JointFrictionConstraintModel JointLimitConstraintData
        JointLimitConstraintModel JointModelEllipsoid LINEAR MANUAL METAL ModelPool NonNegativeOrthantCone OSQP
        PGSConstraintSolver PGSSolverResult PGSSolverSettings PGSSolverStats PLASTIC PhysicsMaterial
        PhysicsMaterialType PointAnchorConstraintData PointAnchorConstraintModel PointContactConstraintData
        PointContactConstraintModel SPECTRAL StdVec_BooleanVector
        StdVec_BroadPhaseManager_DynamicAABBTreeCollisionManager StdVec_ConstraintData StdVec_ConstraintModel
        StdVec_Data StdVec_EigenIndex StdVec_EigenIndexVector StdVec_FrameAnchorConstraintData
        StdVec_FrameAnchorConstraintModel StdVec_GeometryData StdVec_JointFrictionConstraintData
        StdVec_JointFrictionConstraintModel StdVec_JointLimitConstraintData StdVec_JointLimitConstraintModel
        StdVec_Model StdVec_PointAnchorConstraintData StdVec_PointAnchorConstraintModel
        StdVec_PointContactConstraintData StdVec_PointContactConstraintModel
        StdVec_TreeBroadPhaseManager_DynamicAABBTreeCollisionManager StdVec_Vec3s
        StdVec_coal_CollisionObjectPointer TreeBroadPhaseManagerPool_DynamicAABBTreeCollisionManager
        WITH_COLLISION WOOD ZeroCone abaInParallel buildModelAndConstraintsFromMJCF
        buildModelAndLegacyConstraintsFromMJCF buildModelFromMJCFAndRootJoint buildModelsAndConstraintsFromMJCF
        buildModelsAndConstraintsFromSdf coal compactTangentMap computeCollisionsInParallel computeContactPatch
        computeContactPatches computeInverseDynamicsConstraintForces computeJointKinematicHessians
        computeJointMinimalOrdering convertToRigidConstraintModel getFrameKinematicHessian
        getFrictionCoefficientMatrix getJointKinematicHessian getTangentToConfigurationSparsitySegment
        isOrthonormal lcaba lieGroup omp_get_max_threads orthogonalization orthonormalization rneaInParallel
        tangentMap tangentMapProduct tangentMapTransposeProduct
    """,
    "with CppAD": """
        cppad cppadcg
    """,
    "with MPFR": """
        mpfr
    """,
    "with SDFormat": """
        buildGeomFromSdf buildModelFromSdf
    """,
    "with its extra library": """
        reachableWorkspace reachableWorkspaceHull reachableWorkspaceWithCollisions
        reachableWorkspaceWithCollisionsHull
    """,
}

ELSEWHERE = {name: where for where, names in _GROUPS.items() for name in names.split()}
"""For each name, the release or build option of Pinocchio that has it."""
