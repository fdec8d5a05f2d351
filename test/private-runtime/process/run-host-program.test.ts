import {Readable} from 'node:stream';
import {buffer, text} from 'node:stream/consumers';
import {createGunzip} from 'node:zlib';
import {describe, expect, test} from 'vitest';
import {SystemError} from '../../../src/base/errors.js';
import {
  streamHostProgramOutput,
  runHostProgram,
} from '../../../src/private-runtime/process/run-host-program.js';

const NEVER = new AbortController().signal;

describe('a program that cannot be started', () => {
  test.each([
    ['it does not exist', '/nowhere/program', [], 'the program "/nowhere/program" is not installed'],
    ['it is a directory', '/etc', [], 'cannot start "/etc": permission denied'],
    ['an argument is too long', 'true', ['x'.repeat(1e6)], 'cannot start "true": argument list too long'],
  ])('is an error with the reason if %s', async (_, program, args, message) => {
    const error = new SystemError(message);
    await expect(runHostProgram(program, args)).rejects.toThrow(error);
    await expect(buffer(streamHostProgramOutput(program, args, NEVER))).rejects.toThrow(error);
  });
});

describe("a program's input", () => {
  test("is reported if it is broken, instead of the program's failure", async () => {
    const archive = Readable.from([Buffer.from('not gzip')]).pipe(createGunzip());
    await expect(runHostProgram('cat', [], {input: archive})).rejects.toThrow(
      'cannot read the input of "cat": incorrect header check',
    );
  });

  test('reports the failure of the program that produces it', async () => {
    const input = streamHostProgramOutput('sh', ['-c', 'echo part; echo broken >&2; exit 3'], NEVER);
    await expect(runHostProgram('cat', [], {input})).rejects.toThrow(/^sh -c .*: broken$/);
  });

  test('is not read further after the program has exited', async () => {
    const input = streamHostProgramOutput('yes', [], NEVER);
    expect(await runHostProgram('head', ['-c', '4'], {input})).toBe('y\ny\n');
    expect(input.destroyed).toBe(true);
  });

  test('from another program ends with it when interrupted', async () => {
    const reason = new Error('Ctrl-C');
    const controller = new AbortController();
    const input = streamHostProgramOutput('sh', ['-c', 'echo here; exec sleep 3600'], controller.signal);
    const ended = runHostProgram('cat', [], {input, signal: controller.signal});
    input.once('data', () => {
      controller.abort(reason);
    });
    await expect(ended).rejects.toBe(reason);
  });
});

test('a program gets the given variables in addition to the environment', async () => {
  const env = {KCRI_TEST: 'given'};
  expect(await runHostProgram('sh', ['-c', 'echo "$KCRI_TEST $HOME"'], {env})).toBe(
    `given ${process.env['HOME'] ?? ''}\n`,
  );
});

test('the output of a program is complete', async () => {
  expect(await text(streamHostProgramOutput('seq', ['3'], NEVER))).toBe('1\n2\n3\n');
});
