import {execFile} from 'node:child_process';
import {cp, mkdtemp, readdir, readFile, rm, truncate, writeFile} from 'node:fs/promises';
import {tmpdir} from 'node:os';
import {join} from 'node:path';
import {promisify} from 'node:util';
import {afterEach, beforeEach, expect, test} from 'vitest';

/** The built bundle, which keeps what V8 made of it beside itself; `npm test` builds it first. */
let folder: string;
const compiled = () => join(folder, 'compiled');

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'kcri-bundle-'));
  await cp('dist/quick', folder, {recursive: true, filter: (path) => !path.endsWith('/compiled')});
});
afterEach(() => rm(folder, {recursive: true}));

async function version(): Promise<string> {
  const loader = join(folder, 'loader.cjs');
  const script = `require(${JSON.stringify(loader)}).program.main(['--version'])`;
  const {stdout, stderr} = await promisify(execFile)(process.execPath, ['-e', script]);
  expect(stderr).toBe('');
  return stdout;
}

/** The one file that this command needs. */
async function keptFile(): Promise<string> {
  const [build = ''] = await readdir(compiled());
  expect(await readdir(join(compiled(), build))).toEqual(['start']);
  return join(compiled(), build, 'start');
}

test('the first run keeps compiled code, and the next one leaves it', async () => {
  expect(await version()).toMatch(/^kcri version v/);
  const kept = await readFile(await keptFile());
  expect(await version()).toMatch(/^kcri version v/);
  expect(kept.equals(await readFile(await keptFile()))).toBe(true);
});

test.each([
  ['cut off', (file: string) => truncate(file, 1000)],
  ['empty', (file: string) => truncate(file)],
  ["another program's", (file: string) => writeFile(file, 'x'.repeat(500_000))],
])('what was kept and is %s is made anew', async (_, spoil) => {
  await version();
  const file = await keptFile();
  const {length} = await readFile(file);
  await spoil(file);
  expect(await version()).toMatch(/^kcri version v/);
  // V8 doesn't always write the same.
  expect((await readFile(file)).length / length).toBeCloseTo(1, 2);
});

test('where nothing can be kept it runs all the same', async () => {
  await writeFile(compiled(), 'in the way');
  expect(await version()).toMatch(/^kcri version v/);
  expect(await readFile(compiled(), 'utf8')).toBe('in the way');
});
