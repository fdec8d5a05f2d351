import {readFileSync} from 'node:fs';
import {writeFile} from 'node:fs/promises';
import {join} from 'node:path';
import {describe, expect, onTestFinished, test} from 'vitest';
import {systemClock} from '../../src/base/clock.js';
import {InterruptedError} from '../../src/cli/process/interrupt.js';
import {temporaryDirectory} from '../base/temporary-directory.js';
import {until} from '../base/until.js';
import {runKcri} from '../cli/run-kcri.js';
import {BUSYBOX, FakeRuntime, aContainer, anImage, aSandbox} from '../fakes/fake-runtime.js';
import {FakeStreamingServer, type ServerSession} from '../fakes/streaming/fake-streaming-server.js';
import {FAST_CLOCK} from './interrupt-watch.js';

/*
 * Runs the command lines in the table of exit codes of docs/crictl.md.
 */

const SECTION = '## Exit codes';
const CONTAINER = 'c1'.padEnd(64, '0');
const POD = 'aa1'.padEnd(64, '0');
const PLACEHOLDERS: Readonly<Record<string, string>> = {
  CONTAINER,
  POD,
  IMAGE: BUSYBOX,
  NAME: 'main',
  COMMAND: 'fails',
  OTHER: 'c2'.padEnd(64, '0'),
  UNKNOWN: 'dd1'.padEnd(64, '0'),
};

interface Row {
  readonly situation: string;
  readonly line: string;
  readonly crictl: number;
  readonly kcri: number;
}

/** Returns a row of the table for each command line. */
function readRows(): readonly Row[] {
  const page = readFileSync(new URL('../../docs/crictl.md', import.meta.url), 'utf8');
  const [, section = ''] = page.split(`\n${SECTION}\n`);
  const [text = ''] = section.split('\n## ');
  const lines = text.split('\n').filter((line) => line.startsWith('| '));
  return lines.slice(1).flatMap((line) => {
    const [, situation = '', commands = '', crictl = '', kcri = ''] = line
      .split('|')
      .map((cell) => cell.trim());
    const codes = {crictl: Number.parseInt(crictl), kcri: Number.parseInt(kcri)};
    return [...commands.matchAll(/`([^`]+)`/g)].map(([, command = '']) => ({
      situation,
      line: command,
      ...codes,
    }));
  });
}

/** Circumstances of a situation besides the command line. */
interface Circumstances {
  /** Session of exec and attach. */
  readonly session?: (session: ServerSession, runtime: FakeRuntime, isCrictl: boolean) => void;
  /** Signal that kcri receives as soon as the runtime has received a call. */
  readonly signal?: 'SIGINT' | 'SIGTERM';
  /** Called with the started runtime. */
  readonly during?: (runtime: FakeRuntime) => Promise<void>;
}

const CIRCUMSTANCES: Readonly<Record<string, Circumstances>> = {
  'the time limit of `exec` expires': {
    // crictl waits for the end of the command, which is later than the time limit.
    session: (session, _runtime, isCrictl) => {
      if (isCrictl) session.sendExitCode(7);
    },
  },
  'the attached container exits with 5': {
    session: (session, runtime) => {
      runtime.exitContainer(CONTAINER, 5);
      session.sendExitCode(0);
    },
  },
  'Ctrl-C': {signal: 'SIGINT'},
  'Ctrl-C while following events': {signal: 'SIGINT'},
  SIGTERM: {signal: 'SIGTERM'},
  'the runtime ends the stream of events': {
    during: async (runtime) => {
      await until(() => runtime.callsTo('GetContainerEvents').length > 0);
      runtime.endEvents();
    },
  },
};

/** Call during which a signal interrupts a command. */
const INTERRUPTED_CALLS = {
  ps: 'ListContainers',
  images: 'ListImages',
  rm: 'StopContainer',
  events: 'GetContainerEvents',
} as const;

async function startRuntime({session}: Circumstances, isCrictl: boolean): Promise<FakeRuntime> {
  const logPath = join(await temporaryDirectory(), '0.log');
  await writeFile(logPath, '2026-11-21T10:00:00.000000000Z stdout F text\n');
  const streams = await FakeStreamingServer.start({
    handleSession: (opened) => {
      if (session === undefined) opened.sendExitCode(7);
      else session(opened, runtime, isCrictl);
    },
  });
  const web = aSandbox({id: POD, name: 'web'});
  const runtime = await FakeRuntime.start({
    streamingUrl: streams.url,
    sandboxes: [web],
    images: [anImage()],
    containers: [
      aContainer({id: CONTAINER, sandbox: web, name: 'main', logPath}),
      aContainer({id: PLACEHOLDERS['OTHER'] ?? '', sandbox: web, name: 'other', logPath}),
    ],
    exec: () => ({stdout: '', stderr: '', exitCode: 7}),
  });
  onTestFinished(async () => {
    await runtime.stop();
    await streams[Symbol.asyncDispose]();
  });
  return runtime;
}

async function exitCodeOf({line, situation}: Row, env: Readonly<Record<string, string>>): Promise<number> {
  const circumstances = CIRCUMSTANCES[situation] ?? {};
  const runtime = await startRuntime(circumstances, 'KCRI_COMPAT' in env);
  const words = line
    .split(' ')
    .map((word) => word.replaceAll(/[A-Z]{3,}/g, (name) => PLACEHOLDERS[name] ?? name));
  const call = INTERRUPTED_CALLS[words[0] as keyof typeof INTERRUPTED_CALLS];
  // The call must not finish before the signal.
  if (circumstances.signal !== undefined && call !== 'GetContainerEvents') runtime.injectDelay(call, 60_000);
  const controller = new AbortController();
  const running = runKcri(words, {
    endpoint: runtime.endpoint,
    env,
    // Sessions have time limits of their own.
    clock: words.includes('stats') || words.includes('statsp') ? FAST_CLOCK : systemClock,
    signal: controller.signal,
  });
  await circumstances.during?.(runtime);
  if (circumstances.signal !== undefined) {
    await until(() => runtime.callsTo(call).length > 0);
    controller.abort(new InterruptedError(circumstances.signal));
  }
  return (await running).exitCode;
}

describe('the table of exit codes in docs/crictl.md', () => {
  const rows = readRows();

  test('describes each situation that the test sets up', () => {
    const situations = new Set(rows.map(({situation}) => situation));
    expect(Object.keys(CIRCUMSTANCES).filter((situation) => !situations.has(situation))).toEqual([]);
  });

  test('lists different codes only', () => {
    expect(rows.filter(({crictl, kcri}) => crictl === kcri)).toEqual([]);
    expect(rows.length).toBeGreaterThan(60);
  });

  test.each(rows)('$situation: $line exits with $crictl and $kcri', async (row) => {
    expect({
      crictl: await exitCodeOf(row, {KCRI_COMPAT: 'crictl'}),
      kcri: await exitCodeOf(row, {}),
    }).toEqual({crictl: row.crictl, kcri: row.kcri});
  });
});
