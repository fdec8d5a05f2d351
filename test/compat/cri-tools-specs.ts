import assert from 'node:assert/strict';
import {readFile, writeFile} from 'node:fs/promises';
import {until} from '../base/until.js';
import type {ReceivedSpan} from '../cli/diagnostics/otlp-receiver.js';
import type {RunOptions, RunResult} from '../cli/run-kcri.js';
import {aContainer, aSandbox, anImage, FakeRuntime} from '../fakes/fake-runtime.js';

/** Runs the program under one of its names, with the runtime and an empty config file. */
export interface SpecTools {
  readonly runtime: FakeRuntime;
  /** Runs a command line, whose words are separated by spaces. */
  readonly run: (line: string, options?: RunOptions) => Promise<RunResult>;
  /** Runs a command line with tracing, and returns the spans that were sent. */
  readonly trace: (line: string) => Promise<readonly ReceivedSpan[]>;
  /** Runs a command that watches until its output matches, and then interrupts it. */
  readonly watch: (line: string, seen: RegExp) => Promise<RunResult>;
  /** Path of the config file. */
  readonly configFile: string;
  /** Returns a new file with this content. */
  readonly file: (name: string, text: string) => Promise<string>;
}

/** Fact of cri-tools' end-to-end tests. Rejects with AssertionError if it does not hold. */
export interface Spec {
  /** Test file of cri-tools and what it shows. */
  readonly title: string;
  readonly holds: (tools: SpecTools) => Promise<void>;
  /** Reason for which it does not hold under kcri's own name; listed in docs/crictl.md. */
  readonly ownReason?: string;
}

const TITLE = /crictl - client for CRI/;
const NOTHING = /^$/;

/** Returns a fact about the exit code and the output of one command line. */
function outcome(line: string, exitCode: number, stdout: RegExp, stderr: RegExp): Spec['holds'] {
  return async ({run}) => {
    const result = await run(line);
    assert.equal(result.exitCode, exitCode);
    assert.match(result.stdout, stdout);
    assert.match(result.stderr, stderr);
  };
}

const success = (line: string, stdout: RegExp): Spec['holds'] => outcome(line, 0, stdout, NOTHING);

async function listConfig({run}: SpecTools): Promise<string> {
  const {stdout, exitCode} = await run('config --list');
  assert.equal(exitCode, 0);
  return stdout;
}

const HELP_REASON = 'help names kcri';
const FLAG_REASON = 'an invalid command line gets one line on stderr instead of help';
const LIST_REASON = '`config --list` shows the values in force, such as those of flags';
const CONFIG_REASON = '`config --set` changes only the named options and keeps blank lines';

const CONFIG_SPECS: readonly Spec[] = [
  {
    title: 'config: the list of an empty file has every option',
    ownReason: LIST_REASON,
    holds: async (tools) => {
      const list = await listConfig(tools);
      for (const option of ['runtime-endpoint', 'image-endpoint']) assert.match(list, new RegExp(option));
      for (const option of ['timeout', 'max-retries']) assert.match(list, new RegExp(`${option} .* 0`));
      for (const option of ['debug', 'pull-image-on-create', 'disable-pull-on-run'])
        assert.match(list, new RegExp(`${option} .* false`));
    },
  },
  {
    title: 'config: values that are set are listed',
    ownReason: LIST_REASON,
    holds: async (tools) => {
      await success('config --set runtime-endpoint=foo,timeout=10', NOTHING)(tools);
      const list = await listConfig(tools);
      assert.match(list, /runtime-endpoint .* foo/);
      assert.match(list, /timeout .* 10/);
    },
  },
  {
    title: 'config: setting values keeps comments',
    ownReason: CONFIG_REASON,
    holds: async (tools) => {
      const {configFile} = tools;
      const before = ['', 'runtime-endpoint: "one"', 'image-endpoint: "two" # beside', 'timeout: 5', ''];
      await writeFile(configFile, [...before, '# above', 'debug: true', ''].join('\n'));
      await success(
        'config --set runtime-endpoint=a,image-endpoint=b,timeout=10,debug=false',
        NOTHING,
      )(tools);
      assert.equal(
        await readFile(configFile, 'utf8'),
        [
          'runtime-endpoint: "a"',
          'image-endpoint: "b" # beside',
          'timeout: 10',
          '# above',
          'debug: false',
          'pull-image-on-create: false',
          'disable-pull-on-run: false',
          'max-retries: 0',
          '',
        ].join('\n'),
      );
    },
  },
  {
    title: 'config: the last of duplicate options counts',
    holds: async (tools) => {
      await writeFile(tools.configFile, '\ntimeout: 20\ntimeout: 5\ntimeout: 10\n');
      await success('config --get timeout', /10/)(tools);
    },
  },
  {
    title: 'config: all duplicate options are set',
    ownReason: CONFIG_REASON,
    holds: async (tools) => {
      await writeFile(tools.configFile, '\ntimeout: 20\ntimeout: 5\ntimeout: 10\n');
      await success('config --set timeout=30', NOTHING)(tools);
      const others = ['runtime-endpoint: ""', 'image-endpoint: ""', 'debug: false'];
      const flags = ['pull-image-on-create: false', 'disable-pull-on-run: false', 'max-retries: 0', ''];
      const lines = ['timeout: 30', 'timeout: 30', 'timeout: 30', ...others, ...flags];
      assert.equal(await readFile(tools.configFile, 'utf8'), lines.join('\n'));
      await success('config --get timeout', /30/)(tools);
    },
  },
];

const EVENT_SPECS: readonly Spec[] = [
  {
    title: 'events: an unknown output format fails',
    ownReason: 'all commands have the same text for an unknown output format',
    holds: outcome('events --output=ini', 1, NOTHING, /don't support .* format/),
  },
  {
    title: 'events: a template without go-template output fails',
    holds: outcome('events --template={{.containerID}}', 1, NOTHING, /template can't be used with .* format/),
  },
  {
    title: 'events: an invalid template fails',
    ownReason: "the error of a template is that of Go's text/template alone",
    holds: outcome('events --output=go-template --template={{', 1, NOTHING, /failed to parse go-template/),
  },
  {
    title: 'events: events are shown',
    holds: async ({runtime, watch}) => {
      const [container] = runtime.containers;
      const watching = watch('events', /CONTAINER_STOPPED_EVENT/);
      await until(() => runtime.state.events.listeners > 0);
      runtime.exitContainer(container?.id ?? '', 0);
      assert.doesNotMatch((await watching).stdout, /unknown method GetContainerEvents/);
    },
  },
];

const HELP_SPECS: readonly Spec[] = [
  ...['help', '--help', '-h'].map((line) => ({
    title: `help: ${line} names the program`,
    ownReason: HELP_REASON,
    holds: success(line, TITLE),
  })),
  {
    title: 'help: an invalid flag shows help',
    ownReason: FLAG_REASON,
    holds: outcome('--invalid', 1, TITLE, /flag provided but not defined/),
  },
  ...['rm', 'rmi', 'rmp'].map((command) => ({
    title: `help: ${command} without arguments shows help`,
    ownReason: FLAG_REASON,
    holds: success(command, new RegExp(`crictl ${command}`)),
  })),
  ...[
    ['rm', 'containers'],
    ['rmi', 'images'],
    ['rmp', 'pods'],
  ].map(([command = '', objects = '']) => ({
    title: `help: ${command} -a without ${objects} shows no help`,
    holds: async (tools: SpecTools) => {
      await removeAll(tools);
      await outcome(`${command} -a`, 0, NOTHING, new RegExp(`No ${objects} to remove`))(tools);
    },
  })),
];

async function removeAll({runtime}: SpecTools): Promise<void> {
  runtime.state.containers.clear();
  runtime.state.sandboxes.clear();
  runtime.state.images.clear();
  await Promise.resolve();
}

/** Checks that a text is one inspected object with info and status, or a list of `count`. */
function checkInspected(text: string, count?: number): void {
  const data: unknown = JSON.parse(text);
  const objects = count === undefined ? [data] : (data as readonly unknown[]);
  assert.equal(Array.isArray(data), count !== undefined);
  assert.equal(objects.length, count ?? 1);
  for (const each of objects) for (const key of ['info', 'status']) assert.ok(key in (each as object));
}

const INSPECT_SPECS: readonly Spec[] = [
  {title: 'info: the network condition is shown', holds: success('info', /NetworkReady/)},
  {
    title: 'info: an invalid flag fails',
    ownReason: FLAG_REASON,
    holds: outcome('--invalid', 1, TITLE, /flag provided but not defined/),
  },
  {
    title: 'inspect: filters select containers, and finding none is not a failure',
    ownReason: 'finding nothing is an error',
    holds: async (tools) => {
      const {runtime, run, file} = tools;
      await removeAll(tools);
      runtime.publishImage(anImage({name: 'registry.example/latest:latest'}));
      const pod = await file('sb.json', '{"metadata": {"name": "sb", "uid": "uid", "namespace": "ns"}}');
      const image = '{"image": "registry.example/latest"}';
      const container = await file('c.json', `{"metadata": {"name": "c"}, "image": ${image}, "args": []}`);
      assert.equal((await run(`run ${container} ${pod}`)).exitCode, 0);
      for (const {id} of runtime.containers) runtime.exitContainer(id, 0);
      for (const line of ['inspect -a', 'inspect -a --image registry.example/latest']) {
        const {stdout, exitCode} = await run(line);
        assert.equal(exitCode, 0);
        checkInspected(stdout);
      }
      for (const line of ['inspect', 'inspect -a --image wrong']) {
        const {stderr, exitCode} = await run(line);
        assert.equal(exitCode, 0);
        assert.match(stderr, /nothing found per filter/);
      }
      const sandboxId = (await run('pods --name sb -q')).stdout.trim();
      assert.equal((await run(`rmp -f ${sandboxId}`)).exitCode, 0);
    },
  },
  {
    title: 'inspecti: one image is an object, several are a list',
    holds: async ({runtime, run}) => {
      const names = ['registry.example/two:latest', 'registry.example/three:latest'];
      for (const name of names) {
        runtime.publishImage(anImage({name}));
        assert.match((await run(`pull ${name}`)).stdout, /Image is up to date/);
      }
      checkInspected((await run(`inspecti ${names[0] ?? ''}`)).stdout);
      checkInspected((await run(`inspecti ${names.join(' ')}`)).stdout, 2);
    },
  },
  {
    title: 'inspectp: one pod is an object, several are a list',
    holds: async ({run, file}) => {
      const ids: string[] = [];
      for (const name of ['sb-0', 'sb-1']) {
        const metadata = `{"name": "${name}", "uid": "uid-${name}", "namespace": "ns"}`;
        ids.push(
          (await run(`runp ${await file(`${name}.json`, `{"metadata": ${metadata}}`)}`)).stdout.trim(),
        );
      }
      checkInspected((await run(`inspectp ${ids[0] ?? ''}`)).stdout);
      checkInspected((await run(`inspectp ${ids.join(' ')}`)).stdout, 2);
      for (const id of ids) assert.equal((await run(`rmp -f ${id}`)).exitCode, 0);
    },
  },
  {
    title: 'metricdescs: the descriptors are a list',
    holds: async ({run}) => {
      const {stdout, exitCode} = await run('metricdescs');
      assert.equal(exitCode, 0);
      assert.ok(Array.isArray((JSON.parse(stdout) as {readonly descriptors: unknown}).descriptors));
    },
  },
  {title: 'version: the name of the runtime is shown', holds: success('version', /RuntimeName: /)},
];

const PULL_SPECS: readonly Spec[] = [
  ...['app', 'app:latest', `app@sha256:${'9'.repeat(64)}`].map((name) => ({
    title: `pull: ${name.replace(/9+/, '…')} is pulled`,
    holds: async (tools: SpecTools) => {
      tools.runtime.publishImage(anImage({name: `registry.example/${name}`}));
      await success(`pull registry.example/${name}`, /Image is up to date/)(tools);
    },
  })),
  {title: 'pull: -h shows help', holds: success('pull -h', /Pull an image/)},
  {title: 'pull: jsonschema shows the schema', holds: success('pull jsonschema', /PodSandboxConfig/)},
  {
    title: 'pull: an image that does not exist fails',
    holds: outcome('pull localhost/wrong', 1, NOTHING, /pulling image/),
  },
];

const TRACING_SPECS: readonly Spec[] = [
  {
    title: 'tracing: version has a span',
    holds: async ({trace}) => {
      assert.ok((await trace('version')).some(({name}) => name === 'version'));
    },
  },
  {title: 'tracing: the call of pods is a child of its span', holds: tracesCall('pods', /ListPodSandbox/)},
  {
    title: 'tracing: the call of version is a child of its span',
    holds: tracesCall('version', /runtime\.v1\.RuntimeService\/Version/),
  },
];

function tracesCall(command: string, method: RegExp): Spec['holds'] {
  return async ({trace}) => {
    const spans = await trace(command);
    const root = spans.find(({name}) => name === command);
    const call = spans.find(({name}) => method.test(name));
    assert.ok(root !== undefined && call !== undefined);
    assert.equal(call.traceId, root.traceId);
    assert.equal(call.parentSpanId, root.spanId);
  };
}

/** All facts of cri-tools' end-to-end tests. */
export const SPECS: readonly Spec[] = [
  ...CONFIG_SPECS,
  ...EVENT_SPECS,
  ...HELP_SPECS,
  ...INSPECT_SPECS,
  ...PULL_SPECS,
  ...TRACING_SPECS,
];

/** Starts a runtime with one running container. */
export async function startSpecRuntime(): Promise<FakeRuntime> {
  const sandbox = aSandbox({name: 'web'});
  return await FakeRuntime.start({sandboxes: [sandbox], containers: [aContainer({sandbox, name: 'main'})]});
}
