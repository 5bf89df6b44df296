//! The JDK of a plan: which one it names, and whether its servers run on it.

use std::path::Path;

use tare_plan::Plan;
use tare_plan::plan::{Program, Variant};
use tare_sut::catalog::Catalog;
use tare_sut::jdk::Jdk;

use crate::error::RunError;

/// The home of the JDK that the plan names; `None` for the newest one that is found.
pub(crate) fn jdk_home(plan: &Plan) -> Option<&Path> {
    (plan.machine.java != "newest").then(|| Path::new(&plan.machine.java))
}

/// The Java that all of these servers of the catalog run on; `None` where none runs on a JVM.
pub(crate) fn oldest_java(catalog: &Catalog, variants: &[&Variant]) -> Result<Option<u32>, RunError> {
    let oldest =
        variants.iter().map(|variant| catalog.family_of(variant.catalog_server()).map(|(_, family)| family.min_java));
    Ok(oldest.collect::<Result<Vec<_>, _>>()?.into_iter().flatten().max())
}

/// Checks the JDK that a plan names, if its servers need one. A plan that names none may be made on a machine without
/// Java.
pub fn check_java(plan: &Plan, catalog: Option<&Catalog>) -> Result<(), RunError> {
    let (Some(home), Some(catalog)) = (jdk_home(plan), catalog) else { return Ok(()) };
    let variants = plan.groups.iter().flat_map(|group| &group.variants);
    let is_of_catalog = |variant: &&Variant| matches!(variant.program, Program::Catalog | Program::CatalogLike { .. });
    let of_catalog: Vec<&Variant> = variants.filter(is_of_catalog).collect();
    if let Some(minimum) = oldest_java(catalog, &of_catalog)? {
        Jdk::find_suitable(minimum, Some(home))?;
    }
    Ok(())
}
