import {describe, expect, test} from 'vitest';
import {formatLogPrefixes} from '../../../src/cli/output/log-prefixes.js';
import {eventLine} from '../../../src/cli/output/views/event-line.js';
import {formatKeyValueList} from '../../../src/cli/output/views/key-value-list.js';
import {createReporter} from '../../../src/cli/output/reporter.js';
import {KcriError} from '../../../src/base/errors.js';
import {FakeRuntime, aContainer, aSandbox} from '../../fakes/fake-runtime.js';
import {runKcri} from '../run-kcri.js';

const EVIL = 'a\x1b[2J\nb\tc';
const SHOWN = String.raw`a\x1b[2J\nb\tc`;
const CONTROLS = /[^\P{Cc}\n\t]/u;

class Refused extends KcriError {
  readonly code = 'REFUSED';
}

async function evil(): Promise<FakeRuntime> {
  const sandbox = aSandbox({name: EVIL});
  return await FakeRuntime.start({sandboxes: [sandbox], containers: [aContainer({sandbox, name: EVIL})]});
}

describe('what a runtime says', () => {
  test.each([
    ['ps', []],
    ['ps', ['-o', 'wide']],
    ['pods', []],
    ['pods', ['-o', 'wide']],
    ['stats', ['-s', '1']],
  ])('stays in its cell on a terminal: %s %j', async (command, flags) => {
    await using runtime = await evil();
    const {stdout} = await runKcri([command, ...flags], {endpoint: runtime.endpoint, terminal: true});
    expect(stdout).toContain(SHOWN);
    expect(stdout.trimEnd().split('\n')).toHaveLength(2);
  });

  test.each([
    [false, {}],
    [true, {KCRI_COMPAT: 'crictl'}],
  ])('is left in tables as it is in a pipe and by crictl (terminal %j)', async (terminal, env) => {
    await using runtime = await evil();
    const {stdout} = await runKcri(['ps'], {endpoint: runtime.endpoint, terminal, env});
    expect(stdout).toContain(EVIL);
  });

  test('does not steer the terminal in an error', async () => {
    await using runtime = await evil();
    runtime.injectError('ListContainers', {code: 'INTERNAL', message: 'no\x1b]0;title\x07'});
    const {stderr} = await runKcri(['ps'], {endpoint: runtime.endpoint});
    expect(stderr).toContain(String.raw`no\x1b]0;title\x07`);
    expect(stderr).not.toMatch(CONTROLS);
  });

  test('does not steer it in hints, notes and warnings', () => {
    let said = '';
    const voice = createReporter({write: (text) => (said += text), isDebug: () => true, usage: () => ''});
    voice.info(EVIL);
    voice.warn(EVIL);
    voice.error(EVIL);
    voice.fail(new Refused(EVIL, {hint: EVIL}));
    expect(said.split(String.raw`a\x1b[2J`).length).toBeGreaterThan(5);
    expect(said).not.toMatch(CONTROLS);
  });

  test('does not leave the prefix of a log', () => {
    expect(formatLogPrefixes([EVIL, 'web'], false)).toEqual([
      `${SHOWN} | `,
      `${'web'.padEnd(SHOWN.length)} | `,
    ]);
  });

  test('does not leave the line of an event', () => {
    const status = {id: 'c1', exitCode: 1, reason: EVIL};
    const event = {containerId: 'c1', createdAt: 0n, containersStatuses: [status]};
    const named = {event, type: 'stopped', pod: {namespace: EVIL, name: EVIL}, container: {name: EVIL}};
    const line = eventLine(named as unknown as Parameters<typeof eventLine>[0]);
    expect(line.split(SHOWN)).toHaveLength(5);
    expect(line).not.toMatch(/\p{Cc}/u);
  });

  test('does not begin a line among facts', () => {
    expect(formatKeyValueList([['Labels', ['a = b\nState: x']]])).toBe('Labels:\n  a = b\n    State: x\n');
  });
});
