import {execFile} from 'node:child_process';
import {readdirSync} from 'node:fs';
import {promisify} from 'node:util';
import {describe, expect, test} from 'vitest';
import {commandPaths} from '../../../src/cli/catalog/command-files.js';
import {GLOBAL_FLAGS} from '../../../src/cli/flags/global-flags.js';
import {KCRI_COMMAND} from '../../kcri-command.js';

/*
 * The help of the built program is recorded in this directory, so that reviews show wording changes.
 * To update it: npm run build && npx vitest run --project unit test/commands/help -u
 */

const MAX_LINE_LENGTH = 100;
const MAX_EXAMPLES = 3;

const paths = commandPaths().toSorted();
const topics = [
  ...new Set(paths.filter((path) => path.includes('/')).map((path) => path.split('/')[0] ?? '')),
];
const subjects = ['', ...new Set([...topics, ...paths])];

const fileOf = (subject: string): string => `${subject === '' ? 'kcri' : subject.replace('/', '-')}.txt`;

async function kcri(...args: readonly string[]): Promise<string> {
  const [program, ...before] = KCRI_COMMAND;
  const {stdout} = await promisify(execFile)(program, [...before, ...args], {
    env: {PATH: process.env['PATH']},
  });
  return stdout;
}

const helpOf = async (subject: string): Promise<string> =>
  await kcri('help', ...subject.split('/').filter(Boolean));

/** Returns the lines of a section without their indentation. */
function section(help: string, header: string): readonly string[] {
  const [, body = ''] = new RegExp(`^${header}\\n((?: {2}.*\\n|\\n(?= {2}))*)`, 'm').exec(help) ?? [];
  return body.split('\n').flatMap((line) => (line.trim() === '' ? [] : [line.trim()]));
}

describe.each(subjects)('the help of "%s"', (subject) => {
  test('is as recorded, and complete', async () => {
    const help = await helpOf(subject);
    await expect(help).toMatchFileSnapshot(fileOf(subject));
    const [summary = ''] = help.split('\n');
    expect(summary).toMatch(/^[A-Z].*[^.]$/);
    expect(section(help, 'USAGE')[0]).toMatch(/^\$ kcri /);
    expect(section(help, 'EXAMPLES').length).toBeLessThanOrEqual(MAX_EXAMPLES);
    for (const line of help.split('\n')) expect(line.length, line).toBeLessThanOrEqual(MAX_LINE_LENGTH);
    if (paths.includes(subject)) expect(section(help, 'EXAMPLES')).not.toEqual([]);
  });

  test('refers to the global flags instead of listing them', async () => {
    const help = await helpOf(subject);
    if (subject === 'options') {
      for (const name of Object.keys(GLOBAL_FLAGS)) expect(help).toContain(`--${name}`);
    } else {
      expect(help).toMatch(/\nUse "kcri options" for a list of global flags\.\n$/);
      expect(help).not.toContain('GLOBAL FLAGS');
      expect(help).not.toContain('--max-retries');
    }
  });
});

test('every recorded help belongs to a command or a topic', () => {
  const files = readdirSync(new URL('.', import.meta.url)).filter((file) => file.endsWith('.txt'));
  expect(files.toSorted()).toEqual(subjects.map(fileOf).toSorted());
});

test('"kcri options" prints the global flags', async () => {
  expect(await kcri('options')).toBe(await helpOf('options'));
});
