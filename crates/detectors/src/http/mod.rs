//! Detectors that are services over HTTP.

mod bedrock;
mod client;
mod custom;
mod judge;
mod lakera;
mod model_armor;
mod prompt_shields;
mod scamguard;
mod service;
mod sigv4;

pub use bedrock::{Bedrock, BedrockAuth};
pub use client::{Client, HttpOptions, Secret};
pub use custom::HttpDetector;
pub use judge::{Anthropic, Gemini, Judge, JudgeOptions, OpenAi, Provider};
pub use lakera::Lakera;
pub use model_armor::ModelArmor;
pub use prompt_shields::PromptShields;
pub use scamguard::ScamGuard;
pub use service::{Service, ServiceDetector};
