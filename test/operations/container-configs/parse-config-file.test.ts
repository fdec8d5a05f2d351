import {describe, expect, test} from 'vitest';
import {messageOf} from '../../../src/base/errors.js';
import {CRICTL_CONFIG_MESSAGES} from '../../../src/features/cri-configs/crictl/crictl-config-messages.js';
import {
  parseContainerConfig,
  parseSandboxConfig,
} from '../../../src/operations/container-configs/parse-config-file.js';

const IMAGE = {image: 'busybox:1'};

async function container(text: string | object) {
  const warnings: string[] = [];
  const source = {file: 'c.yaml', text: typeof text === 'string' ? text : JSON.stringify(text)};
  const config = await parseContainerConfig(source, (warning) => void warnings.push(warning));
  return {config, warnings};
}

async function sandbox(text: string | object) {
  const warnings: string[] = [];
  const source = {file: 'p.yaml', text: typeof text === 'string' ? text : JSON.stringify(text)};
  const config = await parseSandboxConfig(source, (warning) => void warnings.push(warning));
  return {config, warnings};
}

describe('config files', () => {
  test.each([
    {log_path: 'a.log', working_dir: '/w'},
    {logPath: 'a.log', workingDir: '/w'},
    {LogPath: 'a.log', WORKING_DIR: '/w'},
  ])('keys of %j are accepted in any style', async (fields) => {
    const {config, warnings} = await container({metadata: {name: 'm'}, image: IMAGE, ...fields});
    expect({config, warnings}).toMatchObject({config: {logPath: 'a.log', workingDir: '/w'}, warnings: []});
  });

  test.each(['NODE', 2, '2'])('the enum value %j is accepted', async (network) => {
    const {config} = await sandbox({
      metadata: {name: 'p', namespace: 'd'},
      linux: {cgroup_parent: '/x', security_context: {namespace_options: {network}}},
    });
    expect(config.linux?.securityContext?.namespaceOptions?.network).toBe('NODE');
  });

  test.each(['SIGTERM', 'SIGNAL_SIGTERM', 23, '23'])('the signal %j is accepted', async (stop_signal) => {
    const {config} = await container({metadata: {name: 'm'}, image: IMAGE, stop_signal});
    expect(config.stopSignal).toBe('SIGNAL_SIGTERM');
  });

  test('numbers and booleans are converted to strings, and strings to numbers and booleans', async () => {
    const {config} = await container(
      'metadata: {name: 5, attempt: "7"}\nimage: {image: busybox:1}\ntty: "true"\nlabels: {a: 1, b: yes, c: 1.5}\n' +
        'envs:\n- {key: A, value: hello=b}\n- {key: N, value: 7}\n' +
        'linux: {resources: {memory_limit_in_bytes: "9007199254740993", cpu_shares: 512}}\n',
    );
    expect(config).toMatchObject({
      metadata: {name: '5', attempt: 7},
      tty: true,
      labels: {a: '1', b: 'true', c: '1.5'},
      linux: {resources: {memoryLimitInBytes: 9007199254740993n, cpuShares: 512n}},
    });
    expect(config.envs?.map(({value}) => Buffer.from(value!).toString())).toEqual(['hello=b', '7']);
  });

  test('unknown keys are reported with a suggestion', async () => {
    const {warnings} = await sandbox({
      metadata: {name: 'p', namespace: 'd'},
      linux: {cgroup_parent: '/x', cgroup_parnet: '/x'},
      nonsense: 1,
    });
    expect(warnings).toEqual([
      'p.yaml: unknown field "linux.cgroup_parnet" in the PodSandboxConfig, ignored; did you mean "cgroup_parent"?',
      'p.yaml: unknown field "nonsense" in the PodSandboxConfig, ignored',
    ]);
  });

  test.each([
    [
      {metadata: {name: 'm'}, image: IMAGE, stop_signal: 'SIGNOPE'},
      'stop_signal: must be one of RUNTIME_DEFAULT',
    ],
    [{metadata: {name: 'm'}, image: IMAGE, tty: 'maybe'}, 'tty: must be true or false, not "maybe"'],
    [{metadata: {name: 'm', attempt: 'x'}, image: IMAGE}, 'metadata.attempt: must be an integer, not "x"'],
    [{metadata: {name: 'm'}, image: IMAGE, labels: {a: [1]}}, 'labels[a]: must be a string, not a list'],
    [{metadata: {name: 'm'}}, 'image is not set'],
  ])('%j is rejected', async (config, message) => {
    await expect(container(config)).rejects.toThrow(`invalid config "c.yaml": ${message}`);
  });
});

test('a YAML error is reported in one line', async () => {
  const config = container('metadata:\n  name: m\n bad: x\n');
  await expect(config).rejects.toThrow(/^invalid config "c\.yaml": [^\n]+ at line 3, column 1$/);
});

describe('a file that is no config', () => {
  const POD = '{"metadata": {"name": "p", "namespace": "d"}}';
  const PASSWD = 'root:x:0:0:root:/root:/bin/bash\ndaemon:x:1:1:daemon:/usr/sbin:/usr/sbin/nologin\n';

  test.each([
    [PASSWD, 'the document: must be an object, not a string'],
    ['5', 'the document: must be an object, not a number'],
    ['[]', 'must contain one object, not 0'],
    ['', 'metadata is not set'],
    ['# nothing\n', 'metadata is not set'],
    ['null', 'metadata is not set'],
  ])('%j is rejected without its content', async (text, message) => {
    await expect(sandbox(text)).rejects.toThrow(`invalid config "p.yaml": ${message}`);
    await expect(sandbox(text)).rejects.not.toThrow(/daemon/);
  });

  const SHADOW = 'root:*:1:0:::\ndaemon:*:1:0:::\nbin:*:1:0:::\n';

  test('a file in which only keys are unknown is not quoted after the first key', async () => {
    const warnings: string[] = [];
    const config = parseSandboxConfig({file: 'p.yaml', text: SHADOW}, (text) => warnings.push(text));
    await expect(config).rejects.toThrow('metadata is not set');
    expect(warnings).toEqual([
      'p.yaml: unknown field "root:*:1:0::" in the PodSandboxConfig, ignored',
      'p.yaml: 2 more unknown fields in the PodSandboxConfig, ignored',
    ]);
  });

  test.each([
    ['5', 'number'],
    ['yes', 'bool'],
    [PASSWD, 'string'],
    ['[]', 'array'],
    ['[{}, {}]', 'array'],
  ])('%j is rejected with Go’s message under the name crictl', async (text, type) => {
    const config = parseSandboxConfig({file: 'p.yaml', text}, () => undefined, CRICTL_CONFIG_MESSAGES);
    await expect(config).rejects.toThrow(
      `error unmarshaling JSON: while decoding JSON: json: cannot unmarshal ${type} into Go value of type v1.PodSandboxConfig`,
    );
  });

  test.each(['', 'null'])('%j has no metadata under the name crictl', async (text) => {
    const config = parseSandboxConfig({file: 'p.yaml', text}, () => undefined, CRICTL_CONFIG_MESSAGES);
    await expect(config).rejects.toThrow(/^metadata is not set$/);
  });

  const LONG = 'x'.repeat(10_000);

  test.each([
    ['a value', `metadata: ${LONG}`],
    ['a key', `metadata: {name: p, namespace: d}\nlinux: {cgroup_parent: /x, ${LONG.slice(0, 900)}: {}}`],
    ['an alias', `metadata: *${LONG}`],
    ['a header', `metadata: |${LONG}`],
  ])('%s is shortened', async (_, text) => {
    const said = await sandbox(text).then(({warnings}) => warnings.join('\n'), messageOf);
    expect(said).toContain('xxx');
    expect(said.length).toBeLessThan(400);
  });

  test.each([
    `${POD}\n{"metadata": {"name": "q"}}`,
    `${POD}{"metadata": {"name": "q"}}`,
    `${POD}\n}{`,
    `${POD}\n---\nmetadata: {name: q}\n`,
    `metadata: {name: p, namespace: d}\n---\nx: [\n`,
  ])('only the first document of %j counts', async (text) => {
    const {config, warnings} = await sandbox(text);
    expect(config).toMatchObject({metadata: {name: 'p', namespace: 'd'}});
    expect(warnings).toEqual(['p.yaml: only the first document is used']);
    const silent: string[] = [];
    await parseSandboxConfig(
      {file: 'p.yaml', text},
      (warning) => silent.push(warning),
      CRICTL_CONFIG_MESSAGES,
    );
    expect(silent).toEqual([]);
  });

  test.each(['{"metadata": ', '{"metadata": {}', '[{"metadata": {}}', '{"metadata": {]}'])(
    'the unfinished document %j is rejected',
    async (text) => {
      await expect(sandbox(text)).rejects.toThrow(/^invalid config "p\.yaml": .* at line 1, column/);
    },
  );
});

describe('the output of inspect', () => {
  const status = {
    id: 'c1',
    state: 'CONTAINER_RUNNING',
    metadata: {name: 'main', attempt: 3},
    image: {image: 'busybox:1', annotations: {}, userSpecifiedImage: 'busybox'},
    labels: {a: 'b'},
    mounts: [{containerPath: '/data', hostPath: '/tmp', propagation: 'PROPAGATION_PRIVATE'}],
    logPath: '/var/log/pods/x/main/3.log',
    resources: {linux: {cpuShares: '512'}, windows: null},
    stopSignal: 'SIGTERM',
    createdAt: '2026-11-21T14:38:05Z',
    user: {linux: {uid: '1000', gid: '1000', supplementalGroups: ['5']}},
  };

  test('is converted to the config in its info', async () => {
    const original = {
      metadata: {name: 'main'},
      image: IMAGE,
      command: ['sleep'],
      envs: [{key: 'A', value: 'b'}],
    };
    for (const inspected of [
      {info: {config: original, pid: 1}, status},
      [{info: {config: original}, status}],
    ]) {
      const {config, warnings} = await container(inspected);
      expect({config, warnings}).toMatchObject({config: {command: ['sleep']}, warnings: []});
    }
  });

  test.each([[{status}], [status], [{info: {pid: 7}, status}]])(
    'without a config is converted from its status',
    async (inspected) => {
      const {config, warnings} = await container(inspected);
      expect(config).toMatchObject({
        metadata: {name: 'main', attempt: 3},
        image: {image: 'busybox:1'},
        labels: {a: 'b'},
        mounts: [{containerPath: '/data', hostPath: '/tmp'}],
        logPath: '3.log',
        stopSignal: 'SIGNAL_SIGTERM',
        linux: {
          resources: {cpuShares: 512n},
          securityContext: {runAsUser: {value: 1000n}, runAsGroup: {value: 1000n}, supplementalGroups: [5n]},
        },
      });
      expect(warnings).toEqual([expect.stringContaining('a status lacks command')]);
    },
  );

  test('of a pod is converted to a pod config', async () => {
    const metadata = {name: 'p', namespace: 'd', uid: 'u', attempt: 1};
    const linux = {namespaces: {options: {network: 'NODE', pid: 'CONTAINER'}}};
    const {config, warnings} = await sandbox({status: {id: 's', state: 'SANDBOX_READY', metadata, linux}});
    expect(config).toMatchObject({
      metadata,
      linux: {securityContext: {namespaceOptions: {network: 'NODE', pid: 'CONTAINER'}}},
    });
    expect(warnings[0]).toContain('a status lacks hostname');
    const original = {metadata, hostname: 'h', linux: {cgroup_parent: '/x'}};
    expect(await sandbox({info: {config: original}, status: {}})).toMatchObject({
      config: {hostname: 'h'},
      warnings: [],
    });
  });

  test('with several objects is rejected', async () => {
    await expect(container([{status}, {status}])).rejects.toThrow('must contain one object, not 2');
  });
});
