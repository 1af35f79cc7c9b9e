// Which model answers. Pure.

import type { AppConfig, ModelConfig } from "./config.ts";

/** Every model that may answer, the usual one first. */
export const modelsOf = (app: Pick<AppConfig, "model" | "models">): readonly ModelConfig[] =>
  app.model === null ? [] : [app.model, ...app.models];

/** The names of those that look at images. */
export const visionModelsOf = (app: Pick<AppConfig, "model" | "models">): readonly string[] =>
  modelsOf(app).flatMap(({ name, vision }) => (vision ? [name] : []));

/** What answers where that one was chosen: the usual one, where it was none, or one that is no longer there. */
export const modelFor = (app: Pick<AppConfig, "model" | "models">, chosen: string | null): ModelConfig | null =>
  modelsOf(app).find(({ name }) => name === chosen) ?? app.model;
