//! Compiles the screens; fonts, pictures and translations are embedded in the program.

use slint_build::{CompilerConfiguration, DefaultTranslationContext, EmbedResourcesKind};

fn main() {
    // Tests find elements by accessible names, which requires element information in debug builds.
    let for_tests = std::env::var("PROFILE").is_ok_and(|profile| profile == "debug");
    let configuration = CompilerConfiguration::new()
        .with_style("fluent".into())
        .embed_resources(EmbedResourcesKind::EmbedFiles)
        .with_bundled_translations("lang")
        .with_default_translation_context(DefaultTranslationContext::None)
        .with_debug_info(for_tests);
    slint_build::compile_with_config("ui/main.slint", configuration).expect("the screens compile");
    println!("cargo:rerun-if-changed=lang");
}
