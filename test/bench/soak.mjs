// Kills `kcri kubelet` at random moments while pods of every kind run and change, and checks after each restart that
// nothing was restarted without cause, that restart counts go on, and at the end that nothing is left.
// Usage: npm run soak [-- --minutes=60] [--containerd=FOLDER] [--runc=FILE]      (needs root and containerd)
import {existsSync} from 'node:fs';
import {readdir, readFile} from 'node:fs/promises';
import {join} from 'node:path';
import {setTimeout as delay} from 'node:timers/promises';
import {parseArgs} from 'node:util';
import {aPod, sleeper, until, withNode} from './kubelet/node.mjs';

const {values} = parseArgs({
  options: {
    minutes: {type: 'string', default: '60'},
    containerd: {type: 'string'},
    runc: {type: 'string'},
  },
});

const POD_NAME = 'io.kubernetes.pod.name';
const CONTAINER_NAME = 'io.kubernetes.container.name';
/** The first back-off of a container that has died, less what clocks differ by. */
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

/** Pods that run on, whatever becomes of the daemon. */
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
/** Pods that end and begin again, or only end. */
const RESTLESS = {
  crashing: {containers: [sleeper('main', {command: ['sh', '-c', 'sleep 1; exit 3']})]},
  finished: {restartPolicy: 'OnFailure', containers: [sleeper('main', {command: ['true']})]},
};

const faults = [];
/** When each instance of what crashes was made, by its restart count. */
const starts = new Map();
await withNode({folder: values.containerd, runc: values.runc}, async (node) => {
  const say = (text) => process.stdout.write(`${new Date().toISOString()} ${text}\n`);
  const fault = (text) => {
    faults.push(text);
    say(`FAULT ${text}`);
  };
  for (const [name, spec] of Object.entries({...STEADY, ...RESTLESS})) await node.put(aPod(name, spec));
  await node.start();
  await allRun(node);
  say(`containerd ${node.version}: all pods run`);
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
    await allRun(node);
    await untilReplaced(node, before, touched.replaced);
    await delay(SETTLED_MS);
    await checkSingle(node, fault);
    compare(before, await running(node), touched, fault);
    checkCounts(await node.containers(), fault);
    say(`${kills} kills of the daemon, "${touched.what}" on the way; ${faults.length} faults`);
  }
  // The first restart comes at once; a daemon that is started anew knows of no back-off, as a kubelet.
  if (quickRestarts() > kills + 1) fault(`${quickRestarts()} restarts without back-off for ${kills} kills`);
  for (const name of [...Object.keys(STEADY), ...Object.keys(RESTLESS)]) await node.remove(name);
  await checkNothingLeft(node, fault);
  await node.kill('SIGTERM');
});
process.stdout.write(faults.length === 0 ? 'no faults\n' : `${faults.length} faults\n`);
process.exitCode = faults.length === 0 ? 0 : 1;

/** Changes something while the daemon runs; gives the pods that may be different for it. */
async function disturb(node, before, generation) {
  const acts = [
    async () => ({what: 'nothing', pods: []}),
    async () => {
      const spec = {containers: [sleeper('main', {env: [{name: 'GENERATION', value: String(generation)}]})]};
      await node.put(aPod('plain', spec));
      return {what: 'a manifest is edited', pods: ['plain'], replaced: 'plain'};
    },
    async () => {
      const victim = before.find(({pod, name}) => pod === 'two' && name === 'b');
      if (victim !== undefined) process.kill(await node.pidOf(victim.id), 'SIGKILL');
      return {what: 'a container is killed', pods: ['two'], only: ['b']};
    },
    async () => {
      await node.remove('mounted');
      await delay(Math.random() * 300);
      await node.put(aPod('mounted', mounted));
      return {what: 'a manifest goes and returns', pods: ['mounted']};
    },
  ];
  return await acts[Math.floor(Math.random() * acts.length)]();
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

/** Every container of the steady pods runs. */
async function allRun(node) {
  const wanted = Object.entries(STEADY).flatMap(
    ([pod, {initContainers = [], containers = [{name: 'main'}]}]) =>
      [...initContainers.filter(({restartPolicy}) => restartPolicy === 'Always'), ...containers].map(
        ({name}) => `${pod}/${name}`,
      ),
  );
  await until('all pods run', async () => {
    const names = new Set((await running(node)).map(({pod, name}) => `${pod}/${name}`));
    return wanted.every((name) => names.has(name));
  });
}

/** Nothing of the pod runs that ran before, and it runs. */
async function untilReplaced(node, before, replaced) {
  const old = new Set(before.filter(({pod}) => pod === replaced).map(({id}) => id));
  await until('the edited pod runs alone', async () => !(await running(node)).some(({id}) => old.has(id)));
  await allRun(node);
}

/** Soon nothing runs twice: a pod that was replaced while no daemon ran is ended with the first housekeeping. */
async function checkSingle(node, fault) {
  let doubles = [];
  const end = performance.now() + SINGLE_AFTER_MS;
  do {
    const names = (await running(node)).map(({pod, name}) => `${pod}/${name}`);
    doubles = names.filter((name, index) => names.indexOf(name) !== index);
    if (doubles.length === 0) return;
    await delay(100);
  } while (performance.now() < end);
  for (const name of doubles) fault(`${name} runs more than once`);
}

/** What ran and was not touched runs on. */
function compare(before, after, {pods, only}, fault) {
  const ids = new Set(after.map(({id}) => id));
  for (const {id, pod, name, attempt} of before) {
    const mayChange = pods.includes(pod) && (only === undefined || only.includes(name));
    if (Object.hasOwn(STEADY, pod) && !mayChange && !ids.has(id))
      fault(`${pod}/${name} attempt ${attempt} was restarted without cause`);
  }
}

/** What has ended for good was started once; what crashes is backed off between its starts. */
function checkCounts(containers, fault) {
  const of = (pod) => containers.filter(({labels}) => labels[POD_NAME] === `${pod}-benchnode`);
  if (of('finished').some(({metadata}) => metadata.attempt > 0))
    fault('what had succeeded was started again');
  const crashed = of('crashing').toSorted((a, b) => Number(a.createdAt - b.createdAt));
  crashed.forEach(({metadata}, index) => {
    const previous = crashed[index - 1];
    if (previous !== undefined && metadata.attempt <= previous.metadata.attempt)
      fault(`restart count ${metadata.attempt} after ${previous.metadata.attempt}`);
  });
  for (const {metadata, createdAt} of crashed) starts.set(metadata.attempt, Number(createdAt) / 1e6);
}

/** How often what crashes was started again before its first back-off was over. */
function quickRestarts() {
  return [...starts].filter(([attempt, at]) => at - (starts.get(attempt - 1) ?? -Infinity) < BACKOFF_MS)
    .length;
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
