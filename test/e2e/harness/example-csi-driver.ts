import {spawn} from 'node:child_process';
import {once} from 'node:events';
import {join} from 'node:path';
import {until} from '../../base/until.js';
import {compileExample} from './compile-example.js';

/** Name of the driver in `examples/csi-driver`. */
export const EXAMPLE_DRIVER = 'dirs.example.com';

/** The driver of `examples/csi-driver` in a process of its own. */
export interface ExampleCsiDriver extends AsyncDisposable {
  /** Socket of its services. */
  readonly socket: string;
  /** Directory of the images of its volumes. */
  readonly dataDir: string;
  /** Returns its output so far. */
  output(): string;
  /** Ends it without giving it the time to remove its sockets. */
  kill(): Promise<void>;
}

/** Starts the driver for the kubelet of a root directory, with its data in `<rootDir>/csi-data`, and waits for its sockets. */
export async function startExampleCsiDriver(rootDir: string): Promise<ExampleCsiDriver> {
  const dataDir = join(rootDir, 'csi-data');
  const child = spawn(process.execPath, [await compileExample('csi-driver/driver.ts'), rootDir, dataDir], {
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let output = '';
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding('utf8').on('data', (text: string) => (output += text));
  await until(() => {
    if (child.exitCode !== null) throw new Error(`the CSI driver has exited: ${output}`);
    return output.includes(`serving ${EXAMPLE_DRIVER}`);
  });
  const end = async (signal: NodeJS.Signals): Promise<void> => {
    if (child.exitCode !== null || child.signalCode !== null) return;
    const exited = once(child, 'exit');
    child.kill(signal);
    await exited;
  };
  return {
    ...{socket: join(rootDir, 'plugins', EXAMPLE_DRIVER, 'csi.sock'), dataDir},
    output: () => output,
    kill: async () => {
      await end('SIGKILL');
    },
    [Symbol.asyncDispose]: async () => {
      await end('SIGTERM');
    },
  };
}
