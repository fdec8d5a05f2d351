// Kills `kcri kubelet` at random moments while pods of every kind run and change. After each restart it checks that no
// container was restarted without cause and that restart counts are preserved, and finally that nothing is left.
// Usage: npm run soak [-- --minutes=60] [--newest | --containerd=FOLDER --runc=FILE]      (needs root and containerd)
//   --newest   uses the containerd of the newest Debian suite that runs here, instead of the machine's
import {existsSync} from 'node:fs';
import {readdir, readFile} from 'node:fs/promises';
import {join} from 'node:path';
import {setTimeout as delay} from 'node:timers/promises';
import {parseArgs} from 'node:util';
import {ensureSecondContainerd} from '../../scripts/test-runtimes/second-containerd.mjs';
import {aPod, sleeper, until, withNode} from './kubelet/node.mjs';

const {values} = parseArgs({
  options: {
    minutes: {type: 'string', default: '60'},
    containerd: {type: 'string'},
    runc: {type: 'string'},
    newest: {type: 'boolean', default: false},
  },
});

const POD_NAME = 'io.kubernetes.pod.name';
const CONTAINER_NAME = 'io.kubernetes.container.name';
/** First back-off of a crashed container, with a tolerance for clock differences. */
const BACKOFF_MS = 9500;
const SETTLED_MS = 1500;
const SINGLE_AFTER_MS = 10_000;

const mounted = {
  volumes: [
    {name: 'data', emptyDir: {}},
    {name: 'memory', emptyDir: {medium: 'Memory', sizeLimit: '4Mi'}},
  ],
  containers: [
    sleeper('main', {
      volumeMounts: [
        {name: 'data', mountPath: '/data'},
        {name: 'memory', mountPath: '/memory'},
      ],
    }),
  ],
};

/** Pods that keep running whatever happens to the daemon. */
const STEADY = {
  plain: {},
  two: {initContainers: [sleeper('init', {command: ['true']})], containers: [sleeper('a'), sleeper('b')]},
  sidecar: {initContainers: [sleeper('side', {restartPolicy: 'Always'})]},
  mounted,
  probed: {
    containers: [
      sleeper('main', {livenessProbe: {exec: {command: ['true']}, periodSeconds: 1, timeoutSeconds: 10}}),
    ],
  },
  stubborn: {
    terminationGracePeriodSeconds: 1,
    containers: [sleeper('main', {command: ['sh', '-c', "trap '' TERM; while :; do sleep 1; done"]})],
  },
};
/** Pods whose containers exit, and are restarted or complete. */
const EXITING = {
  crashing: {containers: [sleeper('main', {command: ['sh', '-c', 'sleep 1; exit 3']})]},
  finished: {restartPolicy: 'OnFailure', containers: [sleeper('main', {command: ['true']})]},
};

const faults = [];
/** Creation time of each instance of the crashing container, by restart count. */
const creationTimes = new Map();
const say = (text) => process.stdout.write(`${new Date().toISOString()} ${text}\n`);
const {containerd: folder, runc} = values;
await withNode(values.newest ? await ensureSecondContainerd(say) : {folder, runc}, async (node) => {
  const fault = (text) => {
    faults.push(text);
    say(`FAULT ${text}`);
  };
  for (const [name, spec] of Object.entries({...STEADY, ...EXITING}))
    await node.writeManifest(aPod(name, spec));
  await node.start();
  await untilAllRun(node);
  say(`containerd ${node.version}: all pods are running`);
  const end = Date.now() + Number(values.minutes) * 60_000;
  let generation = 0;
  let kills = 0;
  while (Date.now() < end) {
    generation += 1;
    const before = await running(node);
    const touched = await disturb(node, before, generation);
    await delay(Math.random() * 1200);
    await node.kill('SIGKILL');
    kills += 1;
    await delay(Math.random() * 500);
    await node.start();
    await untilAllRun(node);
    await untilReplaced(node, before, touched.replaced);
    await delay(SETTLED_MS);
    await checkSingle(node, fault);
    compare(before, await running(node), touched, fault);
    checkCounts(await node.containers(), fault);
    say(`${kills} kills of the daemon, "${touched.what}"; ${faults.length} faults`);
  }
  // The first restart of a container is immediate, and a new daemon has no back-offs yet, like a kubelet.
  if (quickRestarts() > kills + 1) fault(`${quickRestarts()} restarts without back-off for ${kills} kills`);
  for (const name of [...Object.keys(STEADY), ...Object.keys(EXITING)]) await node.removeManifest(name);
  await checkNothingLeft(node, fault);
  await node.kill('SIGTERM');
});
process.stdout.write(faults.length === 0 ? 'no faults\n' : `${faults.length} faults\n`);
process.exitCode = faults.length === 0 ? 0 : 1;

/** Changes something while the daemon runs. Returns the affected pods. */
async function disturb(node, before, generation) {
  const actions = [
    async () => ({what: 'nothing', pods: []}),
    async () => {
      const spec = {containers: [sleeper('main', {env: [{name: 'GENERATION', value: String(generation)}]})]};
      await node.writeManifest(aPod('plain', spec));
      return {what: 'a manifest was edited', pods: ['plain'], replaced: 'plain'};
    },
    async () => {
      const victim = before.find(({pod, name}) => pod === 'two' && name === 'b');
      if (victim !== undefined) process.kill(await node.pidOf(victim.id), 'SIGKILL');
      return {what: 'a container was killed', pods: ['two'], only: ['b']};
    },
    async () => {
      await node.removeManifest('mounted');
      await delay(Math.random() * 300);
      await node.writeManifest(aPod('mounted', mounted));
      return {what: 'a manifest was removed and restored', pods: ['mounted']};
    },
  ];
  return await actions[Math.floor(Math.random() * actions.length)]();
}

async function running(node) {
  return (await node.containers())
    .filter(({state}) => state === 'CONTAINER_RUNNING')
    .map(({id, labels, metadata}) => ({
      id,
      pod: labels[POD_NAME].replace('-benchnode', ''),
      name: labels[CONTAINER_NAME],
      attempt: metadata.attempt,
    }));
}

/** Resolves when every container of the steady pods is running. */
async function untilAllRun(node) {
  const expected = Object.entries(STEADY).flatMap(
    ([pod, {initContainers = [], containers = [{name: 'main'}]}]) =>
      [...initContainers.filter(({restartPolicy}) => restartPolicy === 'Always'), ...containers].map(
        ({name}) => `${pod}/${name}`,
      ),
  );
  await until('all pods are running', async () => {
    const names = new Set((await running(node)).map(({pod, name}) => `${pod}/${name}`));
    return expected.every((name) => names.has(name));
  });
}

/** Resolves when the pod is running and none of its old containers is. */
async function untilReplaced(node, before, replaced) {
  const old = new Set(before.filter(({pod}) => pod === replaced).map(({id}) => id));
  await until(
    'only the new instance of the edited pod is running',
    async () => !(await running(node)).some(({id}) => old.has(id)),
  );
  await untilAllRun(node);
}

/**
 * Checks that duplicates disappear soon: the old instance of a pod replaced while the daemon was down is terminated by
 * the first housekeeping.
 */
async function checkSingle(node, fault) {
  let duplicates = [];
  const end = performance.now() + SINGLE_AFTER_MS;
  do {
    const names = (await running(node)).map(({pod, name}) => `${pod}/${name}`);
    duplicates = names.filter((name, index) => names.indexOf(name) !== index);
    if (duplicates.length === 0) return;
    await delay(100);
  } while (performance.now() < end);
  for (const name of duplicates) fault(`${name} runs more than once`);
}

/** Checks that unaffected containers keep running. */
function compare(before, after, {pods, only}, fault) {
  const ids = new Set(after.map(({id}) => id));
  for (const {id, pod, name, attempt} of before) {
    const mayChange = pods.includes(pod) && (only === undefined || only.includes(name));
    if (Object.hasOwn(STEADY, pod) && !mayChange && !ids.has(id))
      fault(`${pod}/${name} attempt ${attempt} was restarted without cause`);
  }
}

/** Checks that a completed container is not restarted, and that restart counts of the crashing one increase. */
function checkCounts(containers, fault) {
  const of = (pod) => containers.filter(({labels}) => labels[POD_NAME] === `${pod}-benchnode`);
  if (of('finished').some(({metadata}) => metadata.attempt > 0)) fault('a completed container was restarted');
  const crashed = of('crashing').toSorted((a, b) => Number(a.createdAt - b.createdAt));
  crashed.forEach(({metadata}, index) => {
    const previous = crashed[index - 1];
    if (previous !== undefined && metadata.attempt <= previous.metadata.attempt)
      fault(`restart count ${metadata.attempt} after ${previous.metadata.attempt}`);
  });
  for (const {metadata, createdAt} of crashed) creationTimes.set(metadata.attempt, Number(createdAt) / 1e6);
}

/** Returns how often the crashing container was restarted without back-off. */
function quickRestarts() {
  return [...creationTimes].filter(
    ([attempt, at]) => at - (creationTimes.get(attempt - 1) ?? -Infinity) < BACKOFF_MS,
  ).length;
}

async function checkNothingLeft(node, fault) {
  const left = async () => {
    const root = join(node.rootDir, 'kubelet');
    const names = async (folder) => (existsSync(folder) ? await readdir(folder) : []);
    const mounts = (await readFile('/proc/self/mounts', 'utf8'))
      .split('\n')
      .filter((line) => line.includes(root));
    return [
      ...(await node.containers()).map(({id}) => `container ${id}`),
      ...(await node.runtime.listPodSandbox({})).items.map(({id}) => `sandbox ${id}`),
      ...(await names(join(root, 'pods'))).map((name) => `pod directory ${name}`),
      ...(await names(join(root, 'records'))).map((name) => `record ${name}`),
      ...(await names(join(node.rootDir, 'pod-logs'))).map((name) => `logs ${name}`),
      ...mounts.map((line) => `mount ${line}`),
    ];
  };
  const end = Date.now() + 60_000;
  while ((await left()).length > 0 && Date.now() < end) await delay(200);
  for (const thing of await left()) fault(`left behind: ${thing}`);
}
