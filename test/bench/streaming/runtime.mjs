// A private containerd with one pod that runs a web server.
import {execFile, spawn} from 'node:child_process';
import {once} from 'node:events';
import {mkdir, mkdtemp, rm, writeFile} from 'node:fs/promises';
import {tmpdir} from 'node:os';
import {join} from 'node:path';
import {fileURLToPath} from 'node:url';
import {promisify} from 'node:util';
import {busyboxSpec} from '../../../scripts/test-images.mjs';
import {buildOciArchive} from '../../../dist/private-runtime/image/oci-image.js';

export const KCRI = fileURLToPath(new URL('../../../bin/kcri.js', import.meta.url));
export const MIB = 1024 * 1024;
const QUICK_SERVER = fileURLToPath(new URL('quick-server.mjs', import.meta.url));
/** Size of the downloaded file. */
export const BIG_MIB = 1024;
const PORTS = {busybox: 8080, quick: 8081};

const SERVE = `echo serving; mkdir /www; echo small >/www/small; dd if=/dev/zero of=/www/big bs=1M count=0 seek=${BIG_MIB} 2>/dev/null; exec httpd -f -p ${PORTS.busybox} -h /www`;

/** Starts the runtime and the pod, calls `use`, and removes everything. */
export async function withRuntime(folder, use) {
  const rootDir = await mkdtemp(join(tmpdir(), 'kcri-bench-'));
  // Certificates of this variable are read by Node.js only, and would count against kcri.
  const {NODE_EXTRA_CA_CERTS: _, ...inherited} = process.env;
  const env = {...inherited, KCRI_ROOT_DIR: rootDir};
  const kcri = async (...args) => {
    const {stdout} = await promisify(execFile)(process.execPath, [KCRI, ...args], {env});
    return stdout.trim();
  };
  let quick;
  try {
    const endpoint = await kcri('runtime', 'up', ...(folder === undefined ? [] : ['--containerd', folder]));
    env.CONTAINER_RUNTIME_ENDPOINT = endpoint;
    await writeFile(join(rootDir, 'image.tar'), buildOciArchive(await busyboxSpec()));
    await kcri('runtime', 'load', join(rootDir, 'image.tar'));
    await mkdir(join(rootDir, 'logs'));
    await writeFile(
      join(rootDir, 'pod.json'),
      JSON.stringify({...POD, log_directory: join(rootDir, 'logs')}),
    );
    await writeFile(join(rootDir, 'container.json'), JSON.stringify(CONTAINER));
    const files = ['container.json', 'pod.json'].map((name) => join(rootDir, name));
    const container = await kcri('run', '--no-pull', ...files);
    const pod = await kcri('pods', '--quiet', '--no-trunc');
    const {version} = JSON.parse(await kcri('runtime', 'status', '-o', 'json'));
    const {status, info} = JSON.parse(await kcri('inspectp', '-o', 'json', pod));
    quick = await quickServer(info.pid);
    await use({
      env,
      endpoint,
      container,
      pod,
      version,
      ports: PORTS,
      ip: status.network.ip,
      dir: rootDir,
    });
  } finally {
    quick?.stdin.end();
    await kcri('runtime', 'down');
    await rm(rootDir, {recursive: true});
  }
}

/** Runs a server in the network namespace of a process. */
async function quickServer(pid) {
  const args = ['--net', '--target', String(pid), process.execPath, QUICK_SERVER, String(PORTS.quick)];
  const server = spawn('nsenter', args, {stdio: ['pipe', 'pipe', 'inherit']});
  await once(server.stdout, 'data');
  return server;
}

const POD = {metadata: {name: 'bench', namespace: 'default', uid: 'uid-of-bench', attempt: 0}, linux: {}};
const CONTAINER = {
  metadata: {name: 'main'},
  log_path: 'main.log',
  image: {image: 'docker.io/library/busybox:1.36'},
  command: ['sh', '-c', SERVE],
  linux: {},
};
