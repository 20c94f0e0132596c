//! What joins demand of the rows that they join.

use sqlparser::ast::{JoinConstraint, JoinOperator as J};

macro_rules! constraint_of {
    ($operator:expr) => {
        match $operator {
            J::Join(constraint)
            | J::Inner(constraint)
            | J::Left(constraint)
            | J::LeftOuter(constraint)
            | J::Right(constraint)
            | J::RightOuter(constraint)
            | J::FullOuter(constraint)
            | J::Semi(constraint)
            | J::LeftSemi(constraint)
            | J::RightSemi(constraint)
            | J::Anti(constraint)
            | J::LeftAnti(constraint)
            | J::RightAnti(constraint) => Some(constraint),
            _ => None,
        }
    };
}

/// The ON, USING or NATURAL of a join; `None` of a cross join and the like.
pub fn join_constraint(operator: &J) -> Option<&JoinConstraint> {
    constraint_of!(operator)
}

/// [`join_constraint`], to be changed.
pub fn join_constraint_mut(operator: &mut J) -> Option<&mut JoinConstraint> {
    constraint_of!(operator)
}
