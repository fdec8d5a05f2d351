import {describe, expect, test} from 'vitest';
import {formatLogPrefixes} from '../../../src/features/logs/log-prefixes.js';
import {eventLine} from '../../../src/features/events/event-line.js';
import {formatKeyValueList} from '../../../src/cli/output/views/key-value-list.js';
import {createReporter} from '../../../src/cli/output/reporter.js';
import {KcriError} from '../../../src/base/errors.js';
import {FakeRuntime, aContainer, aSandbox} from '../../fakes/fake-runtime.js';
import {runKcri} from '../run-kcri.js';

const EVIL = 'a\x1b[2J\nb\tc';
const SHOWN = String.raw`a\x1b[2J\nb\tc`;
const CONTROLS = /[^\P{Cc}\n\t]|[\u2028-\u202e\u2066-\u2069]/u;
/** A C1 control sequence, and an override of the text direction between separators. */
const SUBTLE = 'a\x9b2J\u2028\u202eb\u2069\x7f';
const SUBTLE_SHOWN = String.raw`a\x9b2J\u2028\u202eb\u2069\x7f`;
const SUBTLE_AS_JSON = String.raw`a\u009b2J\u2028\u202eb\u2069\u007f`;

class Refused extends KcriError {
  readonly code = 'REFUSED';
}

async function startRuntimeWithName(name = EVIL): Promise<FakeRuntime> {
  const sandbox = aSandbox({name});
  return await FakeRuntime.start({sandboxes: [sandbox], containers: [aContainer({sandbox, name})]});
}

describe('text from a runtime', () => {
  test.each([
    ['ps', []],
    ['ps', ['-o', 'wide']],
    ['pods', []],
    ['pods', ['-o', 'wide']],
    ['stats', ['-s', '1']],
  ])('stays in its table cell on a terminal: %s %j', async (command, flags) => {
    await using runtime = await startRuntimeWithName();
    const {stdout} = await runKcri([command, ...flags], {endpoint: runtime.endpoint, terminal: true});
    expect(stdout).toContain(SHOWN);
    expect(stdout.trimEnd().split('\n')).toHaveLength(2);
  });

  test.each([
    ['ps', []],
    ['ps', ['-o', 'name']],
    ['inspect', ['-o', 'table']],
  ])('has no C1 and bidirectional controls on a terminal: %s %j', async (command, flags) => {
    await using runtime = await startRuntimeWithName(SUBTLE);
    const {stdout} = await runKcri([command, ...flags], {endpoint: runtime.endpoint, terminal: true});
    expect(stdout).toContain(SUBTLE_SHOWN);
    expect(stdout).not.toMatch(CONTROLS);
  });

  test.each([
    ['ps', ['-o', 'json']],
    ['inspect', []],
    ['inspectp', ['-o', 'json']],
    ['stats', ['-o', 'json']],
    ['ps', ['-o', 'jsonpath={.containers[0].metadata.name}']],
    ['ps', ['-o', 'go-template={{(index .containers 0).metadata.name}}']],
    ['inspect', ['-o', 'go-template', '--template', '{{.status.metadata.name}}']],
  ])('has JSON escapes in data on a terminal: %s %j', async (command, flags) => {
    await using runtime = await startRuntimeWithName(SUBTLE);
    const {stdout} = await runKcri([command, ...flags], {endpoint: runtime.endpoint, terminal: true});
    expect(stdout).toContain(SUBTLE_AS_JSON);
    expect(stdout).not.toMatch(CONTROLS);
  });

  test.each([SUBTLE, 'a\u202eb'])('is escaped in YAML on a terminal', async (name) => {
    await using runtime = await startRuntimeWithName(name);
    const {stdout} = await runKcri(['ps', '-o', 'yaml'], {endpoint: runtime.endpoint, terminal: true});
    expect(stdout).toMatch(/name: .*\\u202e/i);
    expect(stdout).not.toMatch(CONTROLS);
  });

  test('is equal in JSON on a terminal and in a pipe', async () => {
    await using runtime = await startRuntimeWithName(SUBTLE);
    const {endpoint} = runtime;
    const [shown, piped] = await Promise.all([
      runKcri(['ps', '-o', 'json'], {endpoint, terminal: true}),
      runKcri(['ps', '-o', 'json'], {endpoint}),
    ]);
    expect(JSON.parse(shown.stdout)).toEqual(JSON.parse(piped.stdout));
  });

  test.each(['json', 'jsonpath={.containers[0].metadata.name}'])(
    'is unchanged in data in a pipe: -o %s',
    async (form) => {
      await using runtime = await startRuntimeWithName(SUBTLE);
      const {stdout} = await runKcri(['ps', '-o', form], {endpoint: runtime.endpoint});
      expect(stdout).toContain(SUBTLE);
    },
  );

  test.each([
    [false, {}],
    [true, {KCRI_COMPAT: 'crictl'}],
  ])('is unchanged in tables in a pipe and as crictl (terminal %j)', async (terminal, env) => {
    await using runtime = await startRuntimeWithName();
    const {stdout} = await runKcri(['ps'], {endpoint: runtime.endpoint, terminal, env});
    expect(stdout).toContain(EVIL);
  });

  test('cannot control the terminal in an error', async () => {
    await using runtime = await startRuntimeWithName();
    runtime.injectError('ListContainers', {code: 'INTERNAL', message: 'no\x1b]0;title\x07'});
    const {stderr} = await runKcri(['ps'], {endpoint: runtime.endpoint});
    expect(stderr).toContain(String.raw`no\x1b]0;title\x07`);
    expect(stderr).not.toMatch(CONTROLS);
  });

  test('cannot control the terminal in hints, notes and warnings', () => {
    let messages = '';
    const reporter = createReporter({
      write: (text) => (messages += text),
      isDebug: () => true,
      usage: () => '',
    });
    reporter.info(EVIL);
    reporter.warn(EVIL);
    reporter.error(EVIL);
    reporter.fail(new Refused(EVIL, {hint: EVIL}));
    reporter.warn(SUBTLE);
    expect(messages.split(String.raw`a\x1b[2J`).length).toBeGreaterThan(5);
    expect(messages).toContain(SUBTLE_SHOWN);
    expect(messages).not.toMatch(CONTROLS);
  });

  test('stays in a log prefix', () => {
    expect(formatLogPrefixes([EVIL, 'web'], false)).toEqual([
      `${SHOWN} | `,
      `${'web'.padEnd(SHOWN.length)} | `,
    ]);
  });

  test('stays in the line of an event', () => {
    const status = {id: 'c1', exitCode: 1, reason: EVIL};
    const event = {containerId: 'c1', createdAt: 0n, containersStatuses: [status]};
    const named = {event, type: 'stopped', pod: {namespace: EVIL, name: EVIL}, container: {name: EVIL}};
    const line = eventLine(named as unknown as Parameters<typeof eventLine>[0]);
    expect(line.split(SHOWN)).toHaveLength(5);
    expect(line).not.toMatch(/\p{Cc}/u);
  });

  test('is indented in a key-value list', () => {
    expect(formatKeyValueList([['Labels', ['a = b\nState: x']]])).toBe('Labels:\n  a = b\n    State: x\n');
  });
});
