import type {RuntimeService} from '../cri/index.js';

/** Name that CRI-O returns in Version (server/version.go). */
const CRIO_NAME = 'cri-o';

/** Reports whether a runtime is CRI-O, with one Version call. Rejects with CriError. */
export async function isCrio(
  runtime: Pick<RuntimeService, 'version'>,
  signal: AbortSignal,
): Promise<boolean> {
  const {runtimeName} = await runtime.version({}, {signal});
  return runtimeName === CRIO_NAME;
}
