import {spawn} from 'node:child_process';
import {once} from 'node:events';
import {existsSync} from 'node:fs';
import {readdir, readFile} from 'node:fs/promises';
import {dirname, join} from 'node:path';
import {describe, expect, onTestFinished, test} from 'vitest';
import {connect} from '../../../src/cri/index.js';
import {temporaryDirectory} from '../../base/temporary-directory.js';
import {until} from '../../base/until.js';
import {FakeRuntime} from '../../fakes/fake-runtime.js';
import {KCRI_COMMAND} from '../../kcri-command.js';
import {parseLines} from './recorder.js';

const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;
/** Number of calls that are answered before the signal. */
const ANSWERED = 200;

/** Starts the built program as a recorder of a runtime, and waits until it listens. */
async function startProcess(runtime: FakeRuntime, args: readonly string[]) {
  const [program, ...before] = KCRI_COMMAND;
  const child = spawn(program, [...before, '-r', runtime.endpoint, 'record', ...args], {
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  onTestFinished(() => {
    child.kill('SIGKILL');
  });
  const output = {stdout: '', stderr: ''};
  child.stdout.on('data', (chunk: Buffer) => (output.stdout += chunk.toString()));
  child.stderr.on('data', (chunk: Buffer) => (output.stderr += chunk.toString()));
  await until(() => output.stderr.includes('recording calls'));
  return {child, output};
}

/** Makes calls that are answered, and one that is `open` until the runtime is released. */
async function startCalls(runtime: FakeRuntime, endpoint: string): Promise<{open: Promise<unknown>}> {
  const connection = connect(endpoint);
  onTestFinished(() => {
    connection.close();
  });
  for (let call = 0; call < ANSWERED; call += 1) await connection.runtime.version();
  const open = connection.runtime.status().catch(() => undefined);
  await until(() => runtime.callsTo('Status').length === 1);
  return {open};
}

/** Starts a runtime that does not answer Status until it is released. */
async function startRuntime(): Promise<{runtime: FakeRuntime; release: () => void}> {
  let release = (): void => undefined;
  const released = new Promise<void>((resolve) => (release = resolve));
  const runtime = await FakeRuntime.start({
    intercept: ({method}) => (method === 'Status' ? released : undefined),
  });
  onTestFinished(async () => {
    release();
    await runtime.stop();
  });
  return {runtime, release};
}

/** Returns the methods of complete lines with how they ended. */
function endsOf(text: string): readonly (readonly [string | undefined, unknown])[] {
  const [, ...lines] = parseLines(text);
  return lines.map(({method, code, open}) => [method, open === true ? 'open' : code]);
}

const VERSIONS = Array.from({length: ANSWERED}, () => ['Version', 'OK']);

describe.each(SIGNALS)('record that ends by %s', (signal) => {
  test('has written all calls to its file, also one that is in progress, and removed its socket', async () => {
    const {runtime} = await startRuntime();
    const directory = await temporaryDirectory();
    const [file, socket] = [join(directory, 'calls.jsonl'), join(directory, 'cri.sock')];
    const {child, output} = await startProcess(runtime, [`--file=${file}`, `--listen=${socket}`]);
    await startCalls(runtime, `unix://${socket}`);
    child.kill(signal);
    expect(await once(child, 'exit')).toEqual([0, null]);
    expect(endsOf(await readFile(file, 'utf8'))).toEqual([...VERSIONS, ['Status', 'open']]);
    expect(output.stderr).toContain(`kcri: recorded ${ANSWERED + 1} calls to "${file}"`);
    expect(await readdir(directory)).toEqual(['calls.jsonl']);
  });

  test('has written all calls to a pipe', async () => {
    const {runtime} = await startRuntime();
    const socket = join(await temporaryDirectory(), 'cri.sock');
    const {child, output} = await startProcess(runtime, [`--listen=${socket}`]);
    await startCalls(runtime, `unix://${socket}`);
    child.kill(signal);
    await once(child, 'close');
    expect(child.exitCode).toBe(0);
    expect(endsOf(output.stdout)).toEqual([...VERSIONS, ['Status', 'open']]);
    expect(existsSync(socket)).toBe(false);
  });

  test('with --swap puts the socket back and waits for the call in progress', async () => {
    const {runtime, release} = await startRuntime();
    const file = join(await temporaryDirectory(), 'calls.jsonl');
    const {child, output} = await startProcess(runtime, ['--swap', `--file=${file}`]);
    const {open} = await startCalls(runtime, runtime.endpoint);
    child.kill(signal);
    await until(() => output.stderr.includes('waiting up to 10 seconds'));
    expect(await readdir(dirname(runtime.socketPath))).toHaveLength(1);
    release();
    expect(await open).toBeDefined();
    expect(await once(child, 'exit')).toEqual([0, null]);
    expect(endsOf(await readFile(file, 'utf8'))).toEqual([...VERSIONS, ['Status', 'OK']]);
  });

  test('prints the summary', async () => {
    const {runtime} = await startRuntime();
    const socket = join(await temporaryDirectory(), 'cri.sock');
    const {child, output} = await startProcess(runtime, [`--listen=${socket}`, '--summary']);
    await startCalls(runtime, `unix://${socket}`);
    child.kill(signal);
    await once(child, 'close');
    expect(child.exitCode).toBe(0);
    expect(output.stdout).toMatch(new RegExp(`^Version +${ANSWERED} +0 +0 `, 'm'));
    expect(output.stdout).toMatch(/^Status +1 +0 +1 /m);
  });
});
