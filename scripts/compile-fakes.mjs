import {dirname, join} from 'node:path';
import {fileURLToPath, pathToFileURL} from 'node:url';
import {compile} from './tsc.mjs';

const scripts = dirname(fileURLToPath(import.meta.url));

/**
 * Compiles test/fakes into .cache if it has changed. Returns the directory of the modules, or undefined if they do not
 * compile.
 */
export function compileFakes() {
  return compile(join(scripts, 'fake-runtime.tsconfig.json'))
    ? join(scripts, '../.cache/fake-runtime/test/fakes')
    : undefined;
}

/** Starts the fake runtime with a container, its log and an image, for scripts that run commands on it. */
export async function startFakeRuntime({logPath} = {}) {
  const folder = compileFakes();
  if (folder === undefined) throw new Error('test/fakes does not compile, see above');
  const {FakeRuntime, aContainer, aSandbox} = await import(
    pathToFileURL(join(folder, 'fake-runtime.js')).href
  );
  const sandbox = aSandbox();
  const container = aContainer({sandbox, ...(logPath === undefined ? {} : {logPath})});
  const runtime = await FakeRuntime.start({sandboxes: [sandbox], containers: [container]});
  runtime.fill({images: 1});
  return runtime;
}
