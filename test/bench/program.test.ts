import {expect, test} from 'vitest';
import {Program, within} from './program.mjs';

const NODE = process.execPath;
/** Seconds that end no wait. */
const LONG = 300;

test('a wait that does not end says what it waited for', async () => {
  await expect(within(0.01, 'a frame', new Promise(() => undefined))).rejects.toThrow(
    'waited 0.01 s in vain for a frame',
  );
  await expect(within(LONG, 'a frame', Promise.resolve(7))).resolves.toBe(7);
  await expect(within(LONG, 'a frame', Promise.reject(new Error('lost')))).rejects.toThrow('lost');
});

test('a program that ends before its first line is an error with its last words', async () => {
  const program = new Program('kcri ui', [NODE, '-e', 'console.error("no runtime"); process.exit(3)']);
  await expect(program.firstLine(LONG, 'the link')).rejects.toThrow(/^kcri ui ended with 3: no runtime$/);
  const silent = new Program('kcri ui', [NODE, '-e', '']);
  await expect(silent.firstLine(LONG, 'the link')).rejects.toThrow('kcri ui ended too early');
  const missing = new Program('kcri ui', ['/no/such/program']);
  await expect(missing.firstLine(LONG, 'the link')).rejects.toThrow('ENOENT');
});

test('a program that was killed before it is stopped is an error, and not a wait', async () => {
  const program = new Program('kcri ui', [NODE, '-e', 'console.log("ready"); setInterval(() => 0, 1000)']);
  expect(await program.firstLine(LONG, 'the link')).toBe('ready');
  process.kill(program.pid ?? 0, 'SIGKILL');
  await expect(program.during(new Promise(() => undefined))).rejects.toThrow('kcri ui ended with SIGKILL');
  await expect(program.succeed(LONG)).rejects.toThrow('kcri ui ended with SIGKILL');
  await expect(program.stop()).rejects.toThrow('kcri ui ended with SIGKILL');
});

test('a program gets its input, and is interrupted', async () => {
  const copy = new Program('copy', [NODE, '-e', 'process.stdin.pipe(process.stdout)'], {input: 'a line\n'});
  expect(await copy.firstLine(LONG, 'its input')).toBe('a line');
  await copy.succeed(LONG);
  const waiting =
    'process.on("SIGINT", () => process.exit(0)); console.log("ready"); setInterval(() => 0, 1000)';
  const program = new Program('kcri ui', [NODE, '-e', waiting]);
  await program.firstLine(LONG, 'the link');
  await program.stop();
});
