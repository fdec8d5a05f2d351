import {describe, expect, test} from 'vitest';
import type {RunOptions} from '../../cli/run-kcri.js';
import {anImage} from '../../fakes/fake-runtime.js';
import {aContainerSpec, aManifest, createTestbed, type CommandTestbed} from '../command-testbed.js';

const registry = ['localhost:5000/app:1', 'localhost:5000/app:2'].map((name) => anImage({name}));

/** Returns a manifest whose container `b` has the same config with each image of `a`. */
function manifestWith(image: string): string {
  const containers = [aContainerSpec('a', {image}), aContainerSpec('b', {image: 'localhost:5000/app:1'})];
  return aManifest({containers});
}

/** Creates the pod; with another image it has another UID, so that all of it is created again. */
async function createPod(): Promise<CommandTestbed> {
  const testbed = await createTestbed({registry});
  const {stderr} = await testbed.run(['sync', '-'], {stdin: manifestWith('localhost:5000/app:1')});
  expect(stderr).toBe('');
  return testbed;
}

async function plan(testbed: CommandTestbed, ...flags: readonly string[]): Promise<string> {
  const {stdout, stderr, exitCode} = await testbed.run(['plan', '-', ...flags], {
    stdin: manifestWith('localhost:5000/app:2'),
  });
  expect({stderr, exitCode}).toEqual({stderr: '', exitCode: 0});
  return stdout;
}

const HIDDEN = /^ {2}(\d+) calls? for what is created again with an equal config: --all shows them$/m;
const numbersOf = (text: string): readonly number[] =>
  Array.from(text.matchAll(/^ +(\d+)\. /gm), ([, number]) => Number(number));

// Proves: plan --all
describe('the calls of what stays equal in a changed pod', () => {
  test('are hidden and counted, and shown with --all, with the same numbers', async () => {
    const testbed = await createPod();
    const [short, all] = [await plan(testbed), await plan(testbed, '--all')];

    const numbers = numbersOf(all);
    expect(numbers).toEqual(numbers.map((_, index) => index + 1));
    expect(all).not.toMatch(HIDDEN);
    const shown = numbersOf(short);
    expect(Number(HIDDEN.exec(short)?.[1])).toBe(numbers.length - shown.length);
    expect(shown.length).toBeLessThan(numbers.length);
    const lines = new Set(all.split('\n'));
    expect(short.split('\n').filter((line) => !lines.has(line) && !HIDDEN.test(line))).toEqual([]);
    expect(short).not.toContain('config.metadata.name: b');
    expect(all).toContain('config.metadata.name: b');
    expect(short).toContain('config.metadata.name: a');
  });

  test('are always part of JSON', async () => {
    const testbed = await createPod();

    const methodsOf = (text: string): readonly string[] =>
      (JSON.parse(text) as readonly {readonly calls: readonly {readonly method: string}[]}[]).flatMap(
        ({calls}) => calls.map(({method}) => method),
      );
    const methods = methodsOf(await plan(testbed, '-o', 'json'));
    expect(methods.filter((method) => method === 'CreateContainer')).toHaveLength(2);
    expect(methodsOf(await plan(testbed, '-o', 'json', '--all'))).toEqual(methods);
  });

  test('cannot be asked for with --diff, which shows no calls', async () => {
    const testbed = await createTestbed();
    const {stderr, exitCode} = await testbed.run(['plan', '-', '--diff', '--all'], {stdin: aManifest()});

    expect(stderr).toContain('--all and --diff are mutually exclusive');
    expect(exitCode).toBe(2);
  });
});

test('a plan has colors on a terminal without NO_COLOR', async () => {
  const testbed = await createTestbed();
  const planAs = async (options: RunOptions): Promise<string> =>
    (await testbed.run(['plan', '-', '--explain'], {stdin: aManifest(), ...options})).stdout;

  expect(await planAs({})).not.toContain('\u001b');
  expect(await planAs({terminal: true, env: {NO_COLOR: '1'}})).not.toMatch(/\u001b|\\x1b|\\u001b/);
  expect(await planAs({terminal: true})).toContain('\u001b[2m# ');
});
