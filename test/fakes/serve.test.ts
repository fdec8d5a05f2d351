import {spawn, type ChildProcess} from 'node:child_process';
import {once} from 'node:events';
import {readdir} from 'node:fs/promises';
import {join} from 'node:path';
import {text} from 'node:stream/consumers';
import {fileURLToPath} from 'node:url';
import {describe, test} from 'vitest';
import {connect} from '../../src/cri/index.js';
import {temporaryDirectory} from '../base/temporary-directory.js';

const SCRIPT = fileURLToPath(new URL('../../scripts/fake-runtime.mjs', import.meta.url));

function spawnFake(...args: readonly string[]): ChildProcess {
  return spawn(process.execPath, [SCRIPT, ...args], {stdio: ['ignore', 'pipe', 'pipe']});
}

async function outcome(child: ChildProcess): Promise<{stdout: string; stderr: string; exitCode: unknown}> {
  const closed = once(child, 'close') as Promise<[number]>;
  const [stdout, stderr] = await Promise.all([text(child.stdout!), text(child.stderr!)]);
  const [exitCode] = await closed;
  return {stdout, stderr, exitCode};
}

describe('npm run fake-runtime', () => {
  test('serves until SIGINT, then exits and removes the socket', async ({expect}) => {
    const directory = await temporaryDirectory();
    const socketPath = join(directory, 'cri.sock');
    const child = spawnFake('--socket', socketPath, '--containers', '4', '--error', 'Version=UNAVAILABLE');
    const [line] = (await once(child.stdout!, 'data')) as [Buffer];
    using cri = connect(line.toString().trim());
    const {containers} = await cri.runtime.listContainers();
    await expect(cri.runtime.version()).rejects.toMatchObject({grpcCode: 'UNAVAILABLE'});
    child.kill('SIGINT');
    const [exitCode] = (await once(child, 'close')) as [number];
    const left = await readdir(directory);
    expect({line: line.toString(), containers: containers.length, exitCode, left}).toEqual({
      line: `unix://${socketPath}\n`,
      containers: 4,
      exitCode: 0,
      left: [],
    });
  });

  test.for([
    {
      args: ['--socket', SCRIPT],
      stderr: 'fake-runtime: the --socket path exists: remove the file or choose another path\n',
    },
    {
      args: ['--socket', '/nosuch/x.sock'],
      stderr:
        'fake-runtime: cannot create the --socket path: check that its directory exists and is writable\n',
    },
  ])('$args prints one line to stderr and exits with 1', async ({args, stderr}, {expect}) => {
    expect(await outcome(spawnFake(...args))).toEqual({stdout: '', stderr, exitCode: 1});
  });

  test('--help prints to stdout', async ({expect}) => {
    const {stdout, exitCode} = await outcome(spawnFake('--help'));
    expect(stdout).toContain('Usage: npm run fake-runtime');
    expect(exitCode).toBe(0);
  });
});
