//! Writes a synthetic run of the published shape into a folder: `synthetic_run FOLDER [SEED]`.

mod data;

use std::error::Error;
use std::fs;
use std::path::PathBuf;

fn main() -> Result<(), Box<dyn Error>> {
    let mut args = std::env::args_os().skip(1);
    let folder = PathBuf::from(args.next().ok_or("usage: synthetic_run FOLDER [SEED]")?);
    let seed = args.next().map_or(Ok(7), |s| s.to_string_lossy().parse())?;
    for file in data::files(seed) {
        let path = folder.join(&file.name);
        if let Some(parent) = path.parent() {
            fs::create_dir_all(parent)?;
        }
        fs::write(path, file.text)?;
    }
    Ok(())
}
