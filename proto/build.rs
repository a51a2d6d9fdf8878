//! Compiles the schema with protox, so that a build needs no protoc.

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let files = ["schema/board.proto", "schema/peer.proto", "schema/control.proto"];
    for file in files {
        println!("cargo:rerun-if-changed={file}");
    }
    let descriptors = protox::compile(files, ["schema"])?;
    prost_build::Config::new().bytes(["."]).compile_fds(descriptors)?;
    Ok(())
}
