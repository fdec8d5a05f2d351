import {spawn} from 'node:child_process';
import {once} from 'node:events';
import {until} from '../../base/until.js';
import {compileExample} from './compile-example.js';

/** A program of `examples` in a process of its own. */
export interface ExampleProcess extends AsyncDisposable {
  /** Returns its output so far. */
  output(): string;
  /** Ends it without giving it the time to remove its sockets. */
  kill(): Promise<void>;
}

/** Starts a program of `examples`, such as `csi-driver/driver.ts`, and waits until it has printed a text. */
export async function startExample(
  name: string,
  args: readonly string[],
  ready: string,
): Promise<ExampleProcess> {
  const child = spawn(process.execPath, [await compileExample(name), ...args], {
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let output = '';
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding('utf8').on('data', (text: string) => (output += text));
  await until(() => {
    if (child.exitCode !== null) throw new Error(`${name} has exited: ${output}`);
    return output.includes(ready);
  });
  const end = async (signal: NodeJS.Signals): Promise<void> => {
    if (child.exitCode !== null || child.signalCode !== null) return;
    const exited = once(child, 'exit');
    child.kill(signal);
    await exited;
  };
  return {
    output: () => output,
    kill: async () => {
      await end('SIGKILL');
    },
    [Symbol.asyncDispose]: async () => {
      await end('SIGTERM');
    },
  };
}
