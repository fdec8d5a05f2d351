import {mkdtemp, readFile, rm, stat, writeFile} from 'node:fs/promises';
import {tmpdir} from 'node:os';
import {dirname, join} from 'node:path';
import {byKey} from '../../src/base/compare.js';
import {isObject} from '../../src/base/is-object.js';
import {until} from '../base/until.js';
import type {FakeRuntime} from '../fakes/fake-runtime.js';
import type {CompatCase} from './cases.js';
import {NAMES, startFixture, writeFixtureFiles} from './fixture.js';

/** Output and exit code of a program. */
export interface Outcome {
  readonly stdout: string;
  readonly stderr: string;
  readonly exitCode: number;
  /** What the case shows in addition: a file, or requests. */
  readonly shown?: string;
}

/** A call of a program with a fixture. */
export interface Call {
  readonly words: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  /** Resolves when the call is to be interrupted. Undefined if it is not. */
  readonly interrupted?: Promise<void> | undefined;
}

/** Calls a program with the fixture of a case, and returns the result without values that change between runs. */
export async function runCase(
  {words, env, fixture = 'full', fault, delay, crash, interrupted, unordered, given, shows}: CompatCase,
  program: {readonly path: string; readonly call: (call: Call) => Promise<Outcome>},
): Promise<Outcome> {
  const directory = await mkdtemp(join(tmpdir(), 'kcri-compat-'));
  try {
    await writeFixtureFiles(directory);
    await using runtime = await startFixture(fixture, directory);
    if (fault !== undefined) runtime.injectError(fault[0], {code: fault[1], message: 'it "fails"'});
    if (delay !== undefined) {
      const [rpc, ms] = delay;
      // On a slow machine a delay that is a little shorter than a deadline may exceed it.
      const endsInTime = (): boolean => (runtime.callsTo(rpc).at(-1)?.deadlineMs ?? 0) > ms;
      runtime.injectDelay(rpc, ms, {match: () => interrupted === true || !endsInTime()});
    }
    if (crash !== undefined) runtime.injectCrash(crash);
    const replacements = {DIR: directory, ENDPOINT: runtime.endpoint, SOCKET: runtime.socketPath};
    const fill = (text: string): string =>
      text.replace(/\{(\w+)\}/g, (whole, name: string) => ({...NAMES, ...replacements})[name] ?? whole);
    const givenFile = join(directory, 'given');
    if (given !== undefined) await writeFile(givenFile, fill(given));
    const outcome = await program.call({
      words: words.map(fill),
      env: environment(env, fill),
      interrupted: interrupted && until(() => delay !== undefined && runtime.callsTo(delay[0]).length > 0),
    });
    const placeholders = {...replacements, BIN: dirname(program.path)};
    const order = unordered === true ? sorted : (text: string) => text;
    return {
      stdout: order(withoutPaths(outcome.stdout, placeholders)),
      stderr: order(withoutPaths(withoutKlog(outcome.stderr), placeholders)),
      exitCode: outcome.exitCode,
      ...(shows === undefined
        ? {}
        : {
            shown: withoutPaths(
              shows === 'file' ? await fileText(givenFile) : order(requestTexts(runtime, shows)),
              placeholders,
            ),
          }),
    };
  } finally {
    await rm(directory, {recursive: true});
  }
}

/** Returns the mode and the content of a file; empty if it does not exist. */
async function fileText(path: string): Promise<string> {
  const found = await stat(path).catch(() => undefined);
  return found === undefined ? '' : `${(found.mode & 0o777).toString(8)}\n${await readFile(path, 'utf8')}`;
}

/** Returns the requests that created pods and containers, or all, one a line. */
function requestTexts(runtime: FakeRuntime, shows: 'requests' | 'calls'): string {
  return runtime.calls
    .filter(({method}) => shows === 'calls' || method === 'RunPodSandbox' || method === 'CreateContainer')
    .map(({method, request}) => `${method} ${JSON.stringify(request, withoutDefaults)}`)
    .join('\n');
}

/** Leaves out what a message has by default; writes bytes as text. */
function withoutDefaults(_key: string, value: unknown): unknown {
  if (typeof value === 'bigint') return value === 0n ? undefined : String(value);
  const isEmpty = value === '' || value === 0 || value === false || value === null;
  if (isEmpty || (Array.isArray(value) && value.length === 0)) return undefined;
  // Go writes maps in any order.
  return isObject(value) ? Object.fromEntries(Object.entries(value).sort(byKey)) : value;
}

function environment(
  given: CompatCase['env'],
  fill: (text: string) => string,
): Readonly<Record<string, string>> {
  const all: Readonly<Record<string, string | undefined>> = {
    CONTAINER_RUNTIME_ENDPOINT: '{ENDPOINT}',
    CRI_CONFIG_FILE: '{DIR}/crictl.yaml',
    TZ: 'UTC',
    ...given,
  };
  return Object.fromEntries(
    Object.entries(all).flatMap(([name, value]) => (value === undefined ? [] : [[name, fill(value)]])),
  );
}

function withoutPaths(text: string, replacements: Readonly<Record<string, string>>): string {
  const withPlaceholders = Object.entries(replacements).reduce(
    (rest, [name, value]) => rest.replaceAll(value, `{${name}}`),
    text,
  );
  return (
    withPlaceholders
      .replace(/time="[^"]*"/g, 'time="{TIME}"')
      .replace(/[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}/g, '{UUID}')
      // grpc-js enforces the timeout too, and its error may arrive first.
      .replaceAll('desc = Deadline exceeded"', 'desc = context deadline exceeded"')
  );
}

/** Sorts lines, and the parts of a message with several errors. */
function sorted(text: string): string {
  // Help has one order, and is replaced later.
  if (/^(NAME:|USAGE)$/m.test(text)) return text;
  const sortedBy = (part: string, between: string): string => part.split(between).toSorted().join(between);
  const messages = text.replace(
    /msg="((?:[^"\\]|\\.)*)"/g,
    (_, message: string) => `msg="${sortedBy(message, String.raw`\n`)}"`,
  );
  return sortedBy(messages, '\n');
}

/** Removes the log lines of the CRI client, which logs every RPC error additionally. */
function withoutKlog(text: string): string {
  return text.replace(/^[IWEF]\d{4} .*\n/gm, '');
}
