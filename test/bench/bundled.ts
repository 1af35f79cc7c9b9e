// The bundled application for benchmarks: as `npm start` brings it up, with a model that is scripted and counted.

import { systemClock } from "../../config/system-time.ts";
import { type Caller, createCaller } from "../chaos/caller.ts";
import { type ModelEndpoint, startModelEndpoint } from "../chaos/outside/model-endpoint.ts";
import { createProduct, type Product } from "../chaos/product.ts";

export interface Bundled {
  readonly product: Product;
  readonly caller: Caller;
  readonly model: ModelEndpoint;
  stop(): Promise<void>;
}

/** One account makes all the load here. */
const LIMITS = "limits: {turns: 1000000, eventStreams: 1000000, statementsPerMinute: 1000000}";

export async function startBundled(yaml = "", limits = LIMITS): Promise<Bundled> {
  const model = await startModelEndpoint();
  const product = await createProduct({
    yaml: () => `model: {baseUrl: "${model.baseUrl}", apiKey: x, name: stub}\n${limits}\n${yaml}`,
  });
  product.start();
  const caller = createCaller(product.port);
  try {
    await untilSteady(product);
    if (!(await caller.signIn())) throw new Error("could not sign in");
  } catch (error) {
    await product.stop(false);
    await model.stop();
    throw error;
  }
  return {
    product,
    caller,
    model,
    async stop() {
      caller.close();
      await product.stop(false);
      await model.stop();
    },
  };
}

export async function untilSteady(product: Product, withinMs = 240_000): Promise<void> {
  for (const end = systemClock.now() + withinMs; systemClock.now() < end; await systemClock.sleep(100))
    if ((await product.status())?.state === "steady") return;
  throw new Error(`not steady within ${withinMs / 1_000} s\n${product.log().slice(-3_000)}`);
}

export async function until(holds: () => boolean | Promise<boolean>, withinMs: number, everyMs = 2): Promise<void> {
  for (const end = systemClock.now() + withinMs; systemClock.now() < end; await systemClock.sleep(everyMs))
    if (await holds()) return;
  throw new Error(`it did not come about within ${withinMs / 1_000} s`);
}
