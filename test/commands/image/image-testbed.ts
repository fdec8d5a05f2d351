import {onTestFinished} from 'vitest';
import {buildOciImage, type OciImage} from '../../../src/private-runtime/image/oci-image.js';
import {runKcri, type RunOptions, type RunResult} from '../../cli/run-kcri.js';
import {FakeContainerd} from '../../fakes/containerd/fake-containerd.js';
import {FakeRuntime, type FakeRuntimeOptions} from '../../fakes/fake-runtime.js';

/** Name of the image of a testbed. */
export const APP = 'registry.example/team/app:1';

/** A fake containerd with its own services, and kcri configured for it. */
export interface ImageTestbed {
  readonly fake: FakeContainerd;
  readonly runtime: FakeRuntime;
  readonly run: (args: readonly string[], options?: RunOptions) => Promise<RunResult>;
}

/** The machine's architecture as in image configs. */
export const ARCHITECTURE = process.arch === 'x64' ? 'amd64' : process.arch;

/** Returns an image of one layer, which holds a file with this content. */
export function anOciImage(content: Uint8Array = Buffer.alloc(5000, 'x')): OciImage {
  const files = [{type: 'file', path: 'data', data: content}] as const;
  return buildOciImage({names: [], architecture: ARCHITECTURE, files});
}

/** Starts a testbed, which has the image APP, for the duration of the test. */
export async function startImageTestbed(options: FakeRuntimeOptions = {}): Promise<ImageTestbed> {
  const fake = new FakeContainerd();
  const runtime = await FakeRuntime.start({images: [], containerd: fake, ...options});
  onTestFinished(async () => {
    await runtime.stop();
  });
  fake.addImage(APP, anOciImage());
  return {
    fake,
    runtime,
    run: async (args, runOptions = {}) => await runKcri(args, {endpoint: runtime.endpoint, ...runOptions}),
  };
}
