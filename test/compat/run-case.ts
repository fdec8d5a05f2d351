import {mkdtemp, rm} from 'node:fs/promises';
import {tmpdir} from 'node:os';
import {dirname, join} from 'node:path';
import {until} from '../base/until.js';
import type {CompatCase} from './cases.js';
import {NAMES, startScene, writeSceneFiles} from './scene.js';

/** What a program said and how it ended. */
export interface Outcome {
  readonly stdout: string;
  readonly stderr: string;
  readonly exitCode: number;
}

/** How a program is called in its scene. */
export interface Call {
  readonly words: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  /** Resolves when it is time for Ctrl-C; undefined for never. */
  readonly interrupted?: Promise<void> | undefined;
}

/** Calls a program in the scene of a case, and gives what it said without what differs from run to run. */
export async function runCase(
  {words, env, scene = 'full', fault, delay, crash, interrupted, unordered}: CompatCase,
  program: {readonly path: string; readonly call: (call: Call) => Promise<Outcome>},
): Promise<Outcome> {
  const directory = await mkdtemp(join(tmpdir(), 'kcri-compat-'));
  try {
    await writeSceneFiles(directory);
    await using runtime = await startScene(scene, directory);
    if (fault !== undefined) runtime.injectError(fault[0], {code: fault[1], message: 'it "fails"'});
    if (delay !== undefined) runtime.injectDelay(...delay);
    if (crash !== undefined) runtime.injectCrash(crash);
    const places = {DIR: directory, ENDPOINT: runtime.endpoint, SOCKET: runtime.socketPath};
    const fill = (text: string): string =>
      text.replace(/\{(\w+)\}/g, (whole, name: string) => ({...NAMES, ...places})[name] ?? whole);
    const outcome = await program.call({
      words: words.map(fill),
      env: environment(env, fill),
      interrupted: interrupted && until(() => delay !== undefined && runtime.callsTo(delay[0]).length > 0),
    });
    const shown = {...places, BIN: dirname(program.path)};
    const order = unordered === true ? sorted : (text: string) => text;
    return {
      stdout: order(withoutPlaces(outcome.stdout, shown)),
      stderr: order(withoutPlaces(withoutKlog(outcome.stderr), shown)),
      exitCode: outcome.exitCode,
    };
  } finally {
    await rm(directory, {recursive: true});
  }
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

function withoutPlaces(text: string, places: Readonly<Record<string, string>>): string {
  const placed = Object.entries(places).reduce(
    (rest, [name, value]) => rest.replaceAll(value, `{${name}}`),
    text,
  );
  return (
    placed
      .replace(/time="[^"]*"/g, 'time="{TIME}"')
      .replace(/[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}/g, '{UUID}')
      // The fake runtime's library knows the time limit too, and may be the first to say that it is over.
      .replaceAll('desc = Deadline exceeded"', 'desc = context deadline exceeded"')
  );
}

/** Lines, and the parts of a message of several errors, in an order of their own. */
function sorted(text: string): string {
  const sortedBy = (part: string, between: string): string => part.split(between).toSorted().join(between);
  const messages = text.replace(
    /msg="((?:[^"\\]|\\.)*)"/g,
    (_, message: string) => `msg="${sortedBy(message, String.raw`\n`)}"`,
  );
  return sortedBy(messages, '\n');
}

/** The CRI client's own log, which says every failure of an RPC a first time. */
function withoutKlog(text: string): string {
  return text.replace(/^[IWEF]\d{4} .*\n/gm, '');
}
