import {mkdir, readFile, symlink, writeFile} from 'node:fs/promises';
import {delimiter, join} from 'node:path';
import {expect, onTestFinished, test, vi} from 'vitest';
import {temporaryDirectory} from '../../../base/temporary-directory.js';
import {startServerTestbed} from '../server-testbed.js';

/** Puts a journalctl(1) first in the PATH that knows the unit kubelet.service and records its arguments. */
async function fakeJournal(): Promise<() => Promise<string>> {
  const directory = await temporaryDirectory();
  const called = join(directory, 'called');
  const script = `#!/bin/sh
if [ "$1" = --field ]; then echo kubelet.service; exit; fi
echo "$*" > ${called}
echo "a message"
echo "a warning" >&2
exit 1
`;
  await writeFile(join(directory, 'journalctl'), script, {mode: 0o755});
  vi.stubEnv('PATH', `${directory}${delimiter}${process.env['PATH']}`);
  onTestFinished(() => void vi.unstubAllEnvs());
  return async () => await readFile(called, 'utf8');
}

/** Hides journalctl(1). */
async function noJournal(): Promise<void> {
  vi.stubEnv('PATH', await temporaryDirectory());
  onTestFinished(() => void vi.unstubAllEnvs());
}

const startQueried = async () => await startServerTestbed({options: {systemLogQuery: true}});

test.each([
  ['query=kubelet', '--unit=kubelet'],
  [
    'query=kubelet&sinceTime=2026-01-02T03:04:05%2B02:00&untilTime=2026-01-03T00:00:00.5Z',
    '--since=2026-01-02 01:04:05 UTC --until=2026-01-03 00:00:00 UTC --unit=kubelet',
  ],
  [
    'query=kubelet&tailLines=7&pattern=a%2Bb&boot=-1',
    '--pager-end --lines=7 --unit=kubelet --grep=a+b --boot=-1',
  ],
])('a query of a service reads the journal: %s', async (query, args) => {
  const called = await fakeJournal();
  const {request} = await startQueried();
  const {status, body, headers} = await request(`/logs/?${query}`);
  expect(status).toBe(200);
  expect(body).toContain('a message\n');
  expect(body).toContain('a warning\n');
  expect(headers['content-type']).toBe('text/plain;charset=UTF-8');
  expect(await called()).toBe(`--utc --no-pager --output=short-precise ${args}\n`);
});

test.each([
  ['plain', 'in plain\n'],
  ['dotted', 'in dotted.log\n'],
  ['nested', 'in nested/nested.log\n'],
  ['absent', '\nlog not found for absent\n'],
  [
    'plain&tailLines=1',
    '\noptions present and query resolved to log files for [plain]\ntry without specifying options\n',
  ],
  ['kubelet', '\nlog not found for kubelet\n'],
])('without a journal, a query of the service %s reads its file', async (service, expected) => {
  await noJournal();
  const {request, directory} = await startQueried();
  const log = join(directory, 'log');
  await mkdir(join(log, 'nested'));
  for (const name of ['plain', 'dotted.log', 'nested/nested.log'])
    await writeFile(join(log, name), `in ${name}\n`);
  expect(await request(`/logs/?query=${service}`)).toMatchObject({status: 200, body: expected});
});

test.each([
  ['/logs/?query=/sub/a.log', 200, 'content\n'],
  ['/logs/?query=./sub/a.log', 200, 'content\n'],
  ['/logs/?query=../secret/', 404, '404 page not found\n'],
  ['/logs/?query=/link', 404, '404 page not found\n'],
  ['/logs/sub/a.log?other=1', 200, 'content\n'],
])('%s is a file beneath the log directory or nothing', async (path, status, body) => {
  const {request, directory} = await startQueried();
  await mkdir(join(directory, 'log/sub'));
  await writeFile(join(directory, 'log/sub/a.log'), 'content\n');
  await writeFile(join(directory, 'secret'), 'secret');
  await symlink(join(directory, 'secret'), join(directory, 'log/link'));
  expect(await request(path)).toMatchObject({status, body});
});

test.each([
  ['query=', 400, 'query: Invalid value: [""]: query cannot be empty'],
  ['query=a&sinceTime=now', 400, 'sinceTime: Invalid value: "now": invalid time format'],
  ['query=a&boot=x', 400, 'boot: Invalid value: "x": strconv.Atoi: parsing "x": invalid syntax'],
  [
    'query=a&tailLines=1.5&boot=y',
    400,
    '[boot: Invalid value: "y": strconv.Atoi: parsing "y": invalid syntax, tailLines: Invalid value: "1.5": strconv.Atoi: parsing "1.5": invalid syntax]',
  ],
  ['tailLines=3', 406, 'query: Required value: cannot be empty with options'],
  ['query=a&boot=1', 406, 'boot: Invalid value: 1: must be less than 1'],
  [
    'query=a&tailLines=100001',
    406,
    'tailLines: Invalid value: 100001: must be between 0 and 100000, inclusive',
  ],
  ['query=a%3Bb', 406, 'query: Invalid value: "a;b": input contains unsupported characters'],
  ['query=--x%20y', 406, 'query: Invalid value: "--x y": input contains unsupported characters'],
  ['query=a&query=b&query=c&query=d&query=e', 406, 'query: Too many: 5: must have at most 4 items'],
  ['query=/a&query=b', 406, 'query: Invalid value: "[/a], [b]": cannot specify a file and service'],
  ['query=/a&query=/b', 406, 'query: Invalid value: ["/a","/b"]: cannot specify more than one file'],
  ['query=/a&tailLines=1', 406, 'query: Invalid value: ["/a"]: cannot specify file with options'],
  [
    'query=a&sinceTime=2026-01-02T00:00:00Z&untilTime=2026-01-01T00:00:00Z',
    406,
    'untilTime: Invalid value: "2026-01-01T00:00:00Z": must be after `sinceTime`',
  ],
  ['query=a&pattern=(', 406, 'pattern: Invalid value: "(": error parsing regexp: missing closing ): `(`'],
])('an invalid query is refused: %s', async (query, status, problem) => {
  const called = await fakeJournal();
  const {request} = await startQueried();
  expect(await request(`/logs/?${query}`)).toMatchObject({status, body: `${problem}\n`});
  await expect(called()).rejects.toThrow('ENOENT');
});

test('without enableSystemLogQuery, the parameters are ignored, as by a kubelet', async () => {
  const called = await fakeJournal();
  const {request} = await startServerTestbed();
  expect((await request('/logs/?query=kubelet')).body).toContain('<pre>');
  await expect(called()).rejects.toThrow('ENOENT');
});
