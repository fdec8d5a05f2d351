import {execFile} from 'node:child_process';
import {randomBytes} from 'node:crypto';
import {readdirSync, rmdirSync} from 'node:fs';
import {chmod, mkdir, mkdtemp, rm, symlink, writeFile} from 'node:fs/promises';
import {tmpdir} from 'node:os';
import {delimiter, join} from 'node:path';
import {afterAll, beforeAll, describe, expect, onTestFinished, test} from 'vitest';
import {containerId} from '../../../src/cri/index.js';
import {until} from '../../base/until.js';
import {listCgroupsAt} from '../harness/leftovers.js';
import {IMAGE, SLEEP_COMMAND, shellCommand} from '../harness/manifests.js';
import {containerState} from '../harness/run-pod.js';
import {startPrivateRuntime, type TestRuntime} from '../harness/test-runtime.js';
import type {KcriResult} from '../harness/kcri-process.js';
import {KCRI_FILE} from '../../kcri-command.js';
import {newestRuntime, selectCases} from '../harness/runtimes-under-test.js';

/** A line of a script or runbook, and its standard output without trailing blanks. */
type Line = readonly [line: string, stdout: string | RegExp];

const ID = '[0-9a-f]{64}';
const SHORT_ID = '[0-9a-f]{13}';

/**
 * Lines that people, Ansible roles and scripts use; `$id` and `$pod` are etcd's container and pod, `$job` is an exited
 * container.
 */
const LISTS: readonly Line[] = [
  ['crictl ps -a | grep kube | grep -v pause | wc -l', '2'],
  ["crictl ps -a | grep Exited | awk '{print $1}'", new RegExp(`^${SHORT_ID}$`)],
  ['crictl ps -aq --state=Exited | wc -l', '1'],
  ["crictl ps --name '^kube-apiserver$' -q | wc -l", '1'],
  ['crictl ps --latest --quiet --name etcd', new RegExp(`^${ID}$`)],
  ['crictl ps -q --label io.kubernetes.container.name=etcd,io.kubernetes.pod.name=etcd-node', new RegExp(ID)],
  ['crictl ps -p $(crictl pods --name etcd -q | cut -c1-10) -q | wc -l', '1'],
  [`crictl ps -q --image ${IMAGE} | wc -l`, '2'],
  [
    'crictl ps -ao json | jq -r \'.containers[] | select(.state=="CONTAINER_EXITED") | .metadata.name\'',
    /job/,
  ],
  ["crictl ps --name etcd --output json | jq -r '.containers[0].id'", new RegExp(`^${ID}$`)],
  ["crictl ps -o yaml | grep ' id: ' | cut -d: -f2 | wc -w", '2'],
  ["crictl ps --no-trunc | awk 'NR>1{print length($1)}' | sort -u", '64'],
  ["crictl pods --state ready | awk '{print $1}' | tail -n+2 | wc -l", '2'],
  ['crictl pods -q -s NotReady | wc -l', '1'],
  ["crictl pods --namespace kube-system --name 'kube-apiserver-*|etcd-*' -q | wc -l", '2'],
  [
    "crictl pods -o json | jq -r '.items[].metadata.name' | sort | paste -sd,",
    'etcd-node,job,kube-apiserver-node',
  ],
  ['crictl pods --label tier=control-plane,app=etcd -q --no-trunc', new RegExp(`^${ID}$`)],
  ['crictl images | awk \'NR>1{print $1":"$2}\' | grep busybox:1.36', IMAGE],
  ['crictl image ls | grep -c busybox', '2'],
  ['crictl images list | grep -c busybox', '2'],
  ["crictl images -o json | jq -r '.images[].repoTags[]' | grep -Fx " + IMAGE, IMAGE],
  ['crictl images -q | grep -c sha256:', '2'],
];

const OBJECTS: readonly Line[] = [
  ["crictl inspect --output go-template --template '{{.info.pid}}' $id", /^\d+$/],
  [
    'crictl inspect $id | jq -r \'.info.runtimeSpec.linux.namespaces[] | select(.type=="mount").type\'',
    'mount',
  ],
  ["crictl inspect $id | grep '\"pid\"' | head -1 | grep -o '[0-9]*'", /^\d+$/],
  ["crictl inspect $(crictl ps -q) | jq -r '.[].status.state' | sort -u", 'CONTAINER_RUNNING'],
  ["crictl inspect $job | jq -r '.status.exitCode, .status.state'", '4\nCONTAINER_EXITED'],
  ['crictl inspect -o yaml $id | grep -c "pid: [0-9]"', '1'],
  ['crictl inspect -o table $id | grep -c ^State', '1'],
  [
    'crictl inspect -o go-template --template ' +
      '\'{{index .status.labels "io.kubernetes.pod.name"}}{{range .status.mounts}} x{{end}}\' $id',
    'etcd-node',
  ],
  ["crictl inspectp --output=go-template --template='{{.status.network.ip}}' $pod", /^\d+(\.\d+){3}$/],
  [
    'crictl pods -q | xargs -n1 crictl inspectp -o json | jq -r .status.metadata.name | sort | head -1',
    'etcd-node',
  ],
  ['crictl pods -q | xargs crictl inspectp | grep -o cgroup_parent | sort -u', 'cgroup_parent'],
  [`crictl inspecti ${IMAGE} | jq -r '.status.repoTags[0]'`, IMAGE],
  ["crictl inspecti -o go-template --template '{{.status.id}}' busybox:1.36", /^sha256:/],
  ['if crictl inspecti nosuch:1 >/dev/null 2>&1; then echo have; else echo pull; fi', 'pull'],
  ['crictl info | jq -r \'.status.conditions[] | select(.type=="RuntimeReady").status\'', 'true'],
  ["crictl info -o go-template --template '{{.config.containerd.defaultRuntimeName}}'", 'runc'],
  ['crictl info >/dev/null 2>&1 && echo ready', 'ready'],
  ["crictl version | grep RuntimeName: | awk '{print $2}'", 'containerd'],
  ['crictl imagefsinfo | jq -r ".status.imageFilesystems[0].fsId.mountpoint"', /^\//],
  ["crictl stats -o json | jq -r '.stats[].attributes.metadata.name' | sort | head -1", 'etcd'],
  ["crictl statsp -o json | jq -r '.stats | length'", '2'],
];

const STREAMS: readonly Line[] = [
  ['crictl logs $id 2>/dev/null', 'up'],
  ['crictl logs $id 2>&1 >/dev/null', 'oops'],
  ['crictl logs --tail=2 $job', 'line 29\nline 30'],
  ['crictl logs -t --tail 1 $job', /^\d{4}-\d\d-\d\dT[\d:.]+Z line 30$/],
  ['crictl logs -f $job | tail -n1', 'line 30'],
  ['for c in $(crictl ps -aq --name job); do crictl logs --tail 1 $c; done', 'line 30'],
  ['crictl exec $id echo hi', 'hi'],
  ['crictl exec -i $id cat <<<input', 'input'],
  ['crictl exec $id ls -d /tmp', '/tmp'],
  ['crictl exec $id sh -c "exit 7" 2>/dev/null || echo failed', 'failed'],
  ['crictl exec -s $id echo hi', 'hi'],
  ['crictl exec --timeout 10 $id env | grep GREETING', 'GREETING=hello'],
  ['crictl ps -q | while read c; do crictl exec $c echo "${#c}"; done', '64\n64'],
];

const SETTINGS: readonly Line[] = [
  ['crictl --runtime-endpoint $EP --image-endpoint $EP --timeout 180s ps -q | wc -l', '2'],
  ['crictl -r ${EP#unix://} -t 60s -D=false pods -q | wc -l', '3'],
  ['CONTAINER_RUNTIME_ENDPOINT=$EP CRI_CONFIG_FILE=/dev/null crictl -t 1m ps -q | wc -l', '2'],
  ['crictl -r unix:///nonexistent.sock ps >/dev/null 2>&1; echo $?', '1'],
  [
    'crictl -c $DIR/new.yaml config --set runtime-endpoint=$EP --set timeout=30 && crictl -c $DIR/new.yaml ps -q | wc -l',
    '2',
  ],
  [
    'crictl -c $DIR/old.yaml config runtime-endpoint $EP 2>/dev/null; grep -c ^runtime-endpoint: $DIR/old.yaml',
    '1',
  ],
  ['crictl config --get timeout', '60'],
  ['source <(crictl completion bash) && echo sourced', 'sourced'],
  ['crictl ps -q | head -1 | wc -l', '1'],
  ['NO_COLOR=1 TERM=dumb crictl ps -q </dev/null 2>&1 | wc -l', '2'],
  ['crictl ps >&-; echo $?', /^[01]$/],
];

/** The steps of crictl's tutorial, and of scripts that reset a node. */
const LIFE: readonly Line[] = [
  ['crictl runp $DIR/life.pod.json > $DIR/life.pod; cat $DIR/life.pod', new RegExp(`^${ID}$`)],
  [
    'crictl create $(cat $DIR/life.pod) $DIR/life.main.json $DIR/life.pod.json > $DIR/life; cat $DIR/life',
    new RegExp(`^${ID}$`),
  ],
  ['crictl start $(cat $DIR/life) | wc -c', '65'],
  ['crictl update --cpu-share 512 $(cat $DIR/life) | wc -c', '65'],
  ['crictl ps --name life -q | xargs -r crictl stop --timeout 1 | wc -l', '1'],
  ['crictl rm $(crictl ps -aq --name life --state exited) | wc -l', '1'],
  ['crictl ps -q --name life | xargs -r crictl stop', ''],
  [
    'crictl pods -q --name life | xargs -I% --no-run-if-empty bash -c "crictl stopp % && crictl rmp %" | cut -d" " -f1,2',
    'Stopped sandbox\nRemoved sandbox',
  ],
  ['crictl rmi nosuch:1 2>/dev/null; echo $?', '1'],
  ['crictl rmi localhost:5000/nosuch:1 >/dev/null 2>&1 || true; crictl images -q | wc -l', '2'],
];

const POD_LABELS = {tier: 'control-plane'};

describe.each(newestRuntime)('common uses of crictl: $name', (which) => {
  let runtime: TestRuntime;
  let dir: string;
  const cgroupRoot = `/kcri-usage-${randomBytes(4).toString('hex')}`;
  const ids = {id: '', pod: '', job: ''};

  beforeAll(async () => {
    runtime = await startPrivateRuntime(which);
    dir = await mkdtemp(join(tmpdir(), 'kcri-usage-'));
    await installPrograms(dir);
    const etcd = await run('etcd-node', 'etcd', shellCommand('echo up; echo oops >&2; exec sleep 3600'));
    await run('kube-apiserver-node', 'kube-apiserver', SLEEP_COMMAND);
    const job = await run('job', 'job', shellCommand('for i in $(seq 1 30); do echo line $i; done; exit 4'));
    await until(async () => (await runtime.kcri(['logs', etcd])).stderr === 'oops\n');
    const {connection} = runtime;
    await until(async () => (await containerState(connection, containerId(job))) === 'CONTAINER_EXITED');
    await output('stopp', await podOf(job));
    Object.assign(ids, {id: etcd, pod: await podOf(etcd), job});
    await configs('life', 'life', SLEEP_COMMAND);
  });
  afterAll(async () => {
    await runtime.stop();
    for (const cgroup of listCgroupsAt(cgroupRoot)) {
      for (const {name} of readdirSync(cgroup, {withFileTypes: true}).filter((entry) => entry.isDirectory()))
        rmdirSync(join(cgroup, name));
      rmdirSync(cgroup);
    }
    await rm(dir, {recursive: true});
  });

  async function output(...args: readonly string[]): Promise<string> {
    const {stdout, stderr, exitCode} = await runtime.kcri(args);
    expect({args, exitCode, stderr}).toEqual({args, exitCode: 0, stderr: ''});
    return stdout.trim();
  }

  const podOf = (container: string): Promise<string> =>
    output('ps', '-a', '--id', container, '-o', 'jsonpath={.containers[0].podSandboxId}');

  /** Writes the config files of a pod and its container, with the kubelet's labels. */
  async function configs(pod: string, name: string, command: readonly string[]): Promise<readonly string[]> {
    const namespace = pod.endsWith('-node') ? 'kube-system' : 'default';
    const labels = {
      'io.kubernetes.pod.name': pod,
      'io.kubernetes.pod.namespace': namespace,
      'io.kubernetes.pod.uid': `uid-of-${pod}`,
    };
    const files = {
      [`${name}.main.json`]: {
        metadata: {name, attempt: 0},
        image: {image: IMAGE},
        command,
        envs: [{key: 'GREETING', value: 'hello'}],
        labels: {...labels, 'io.kubernetes.container.name': name},
        log_path: `${name}.log`,
        linux: {},
      },
      [`${name}.pod.json`]: {
        metadata: {name: pod, namespace, uid: `uid-of-${pod}`, attempt: 0},
        labels: {...labels, ...POD_LABELS, app: name},
        log_directory: join(dir, pod),
        linux: {cgroup_parent: `${cgroupRoot}/${pod}`},
      },
    };
    for (const [file, config] of Object.entries(files))
      await writeFile(join(dir, file), JSON.stringify(config));
    return Object.keys(files).map((file) => join(dir, file));
  }

  const run = async (pod: string, name: string, command: readonly string[]): Promise<string> =>
    await output('run', '--no-pull', ...(await configs(pod, name, command)));

  /** Runs a line in bash, where `crictl` is kcri in its own dialect or in crictl's. */
  function bash(line: string, dialect: string): Promise<KcriResult> {
    const {PATH = '', HOME = '', LANG = ''} = process.env;
    const env = {
      ...{...ids, HOME, LANG, DIR: join(dir, dialect), EP: runtime.endpoint},
      PATH: `${join(dir, dialect)}${delimiter}${PATH}`,
      CRI_CONFIG_FILE: join(dir, dialect, 'crictl.yaml'),
    };
    return new Promise((resolve) => {
      const child = execFile('bash', ['-c', line], {env}, (error, stdout, stderr) => {
        resolve({stdout, stderr, exitCode: error === null ? 0 : Number(error.code)});
      });
      child.stdin?.end();
    });
  }

  async function installPrograms(folder: string): Promise<void> {
    for (const dialect of ['own', 'crictl']) {
      const bin = join(folder, dialect);
      await mkdir(bin);
      await symlink(KCRI_FILE, join(bin, dialect === 'own' ? 'kcri' : 'crictl'));
      for (const file of ['life.main.json', 'life.pod.json']) await symlink(`../${file}`, join(bin, file));
      await writeFile(
        join(bin, 'crictl.yaml'),
        `runtime-endpoint: ${runtime.endpoint}\nimage-endpoint: ${runtime.endpoint}\ntimeout: 60\ndebug: false\n`,
      );
    }
    const alias = join(folder, 'own', 'crictl');
    await writeFile(alias, '#!/bin/sh\nexec kcri "$@"\n');
    await chmod(alias, 0o755);
  }

  describe.each(['own', 'crictl'])('in the dialect %s', (dialect) => {
    const prints = async (line: string, stdout: string | RegExp): Promise<void> => {
      const result = await bash(line, dialect);
      const said = {line, stderr: result.stderr, stdout: result.stdout.trimEnd()};
      const expected = typeof stdout === 'string' ? stdout : (expect.stringMatching(stdout) as string);
      expect(said).toMatchObject({stdout: expected});
    };
    test.concurrent.each(selectCases([...LISTS, ...OBJECTS, ...STREAMS, ...SETTINGS], 3))('%s', prints);
    test('a pod is created and removed step by step from runp to rmp', async () => {
      onTestFinished(async () => {
        await bash('crictl pods -q --name life | xargs -r crictl rmp -f', dialect);
      });
      for (const [line, stdout] of LIFE) await prints(line, stdout);
    });
  });
});
