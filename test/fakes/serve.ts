import {FAKE_RUNTIME_USAGE, parseFakeRuntimeArgs, type FakeRuntimeArgs} from './runtime/fake-runtime-args.js';
import {FakeRuntime} from './fake-runtime.js';

/** Implements `npm run fake-runtime`: serves until SIGINT or SIGTERM, and returns the exit code. */
export async function serve(argv: readonly string[]): Promise<number> {
  const ended = untilSignalled();
  try {
    const args = parseFakeRuntimeArgs(argv);
    if (args.help) {
      process.stdout.write(FAKE_RUNTIME_USAGE);
      return 0;
    }
    await using runtime = await startRuntime(args);
    process.stdout.write(`${runtime.endpoint}\n`);
    await ended;
    return 0;
  } catch (error) {
    process.stderr.write(`fake-runtime: ${explain(error)}\n`);
    return 1;
  }
}

async function startRuntime({
  profile,
  socketPath,
  pods,
  containers,
  images,
  errors,
  delays,
}: FakeRuntimeArgs): Promise<FakeRuntime> {
  const runtime = await FakeRuntime.start({profile, socketPath});
  runtime.fill({containers, images, ...(pods === undefined ? {} : {pods})});
  for (const {rpc, code} of errors) runtime.injectError(rpc, {code, message: `--error ${rpc}=${code}`});
  for (const {rpc, ms} of delays) runtime.injectDelay(rpc, ms);
  return runtime;
}

function untilSignalled(): Promise<void> {
  return new Promise((resolve) => {
    for (const signal of ['SIGINT', 'SIGTERM'] as const)
      process.once(signal, () => {
        resolve();
      });
  });
}

/** Returns a one-line message for an error. An existing socket path has its own message. */
function explain(error: unknown): string {
  const message = error instanceof Error ? error.message : String(error);
  const code = error instanceof Error && 'code' in error ? error.code : undefined;
  if (code === 'EEXIST') return 'the --socket path exists: remove the file or choose another path';
  if (code === 'EACCES')
    return 'cannot create the --socket path: check that its directory exists and is writable';
  return message.split('\n', 1)[0] ?? message;
}
