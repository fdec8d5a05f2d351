import {execFile} from 'node:child_process';
import {describe, expect, test} from 'vitest';
import {FakeRuntime} from '../fakes/fake-runtime.js';
import {KCRI_COMMAND, KCRI_FILE} from '../kcri-command.js';

/** Runs the built program, since oclif reads the built package for its help. `npm test` builds it first. */
function kcri(args: readonly string[], env: Record<string, string> = {}) {
  const [program, ...before] = KCRI_COMMAND;
  return new Promise<{stdout: string; stderr: string; exitCode: number}>((resolve) => {
    const child = execFile(
      program,
      [...before, ...args],
      {env: {PATH: process.env['PATH'], ...env}},
      (error, stdout, stderr) => {
        resolve({stdout, stderr, exitCode: error === null ? 0 : Number(error.code)});
      },
    );
    child.stdin?.end();
  });
}

describe('help of the built program', () => {
  test.each([[[]], [['--help']], [['-h']], [['help']], [['h']]])('%j lists the commands', async (args) => {
    const {stdout, stderr, exitCode} = await kcri(args);
    expect(stdout).toMatch(/COMMANDS[^]*\n {2}ps +List containers\n/);
    expect(stdout).toMatch(/\nUse "kcri COMMAND --help" for more information about a command\.\n/);
    expect({stderr, exitCode}).toEqual({stderr: '', exitCode: 0});
  });

  test.each([[['options']], [['options', '--help']], [['help', 'options']]])(
    '%j lists the global flags',
    async (args) => {
      const {stdout, stderr, exitCode} = await kcri(args);
      expect(stdout).toMatch(
        /^List the global flags\n[^]*\nGLOBAL FLAGS\n[^]* {2}-r, --runtime-endpoint=ENDPOINT /,
      );
      expect({stderr, exitCode}).toEqual({stderr: '', exitCode: 0});
    },
  );

  test.each([[['ps', '--help']], [['ps', '-h']], [['help', 'ps']], [['ps', '-a', 'x', '--help']]])(
    '%j explains ps',
    async (args) => {
      const {stdout, exitCode} = await kcri(args);
      expect(stdout).toMatch(
        /^List containers\n[^]*-a, --all[^]*\nUse "kcri options" for a list of global flags\.\n$/,
      );
      expect(exitCode).toBe(0);
    },
  );

  test('uses the name the program was called by', async () => {
    const {stdout} = await kcri(['ps', '--help'], {KCRI_COMPAT: 'crictl'});
    expect(stdout).toMatch(
      /\nUSAGE\n {2}\$ crictl ps \[FLAGS\]\n[^]*\nUse "crictl options" for a list of global flags\.\n$/,
    );
  });
});

describe('the built program', () => {
  test('reads the file of --env-file itself, rather than its interpreter', async () => {
    const {stderr, exitCode} = await new Promise<{stderr: string; exitCode: unknown}>((resolve) => {
      const words = ['-r', 'unix:///nowhere.sock', 'run', '--env-file=/nowhere', 'busybox'];
      execFile(KCRI_FILE, words, (error, _, text) => {
        resolve({stderr: text, exitCode: error?.code});
      });
    });
    expect({stderr, exitCode}).toEqual({
      stderr: expect.stringMatching(/^kcri: reading "\/nowhere": no such file or directory\n/) as string,
      exitCode: 125,
    });
  });

  test('exits silently when its output is closed', async () => {
    await using runtime = await FakeRuntime.start();
    runtime.fill({containers: 5000});
    const {spawn} = await import('node:child_process');
    const child = spawn(
      'sh',
      ['-c', '{ "$@" ps -v; echo "exit $?" >&2; } | head -1', 'sh', ...KCRI_COMMAND],
      {env: {PATH: process.env['PATH'], CONTAINER_RUNTIME_ENDPOINT: runtime.endpoint}},
    );
    const [out, err] = await Promise.all([readAll(child.stdout), readAll(child.stderr)]);
    expect(out).toMatch(/^ID: [0-9a-f]{64}\n$/);
    expect(err).toBe('exit 0\n');
  });
});

async function readAll(stream: NodeJS.ReadableStream): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of stream) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks).toString();
}
