//! Which JDK a plan asks for.

use std::path::Path;

use tare_plan::Plan;

/// The home of the JDK that the plan names; `None` for the newest one that is found.
pub(crate) fn jdk_home(plan: &Plan) -> Option<&Path> {
    (plan.machine.java != "newest").then(|| Path::new(&plan.machine.java))
}
