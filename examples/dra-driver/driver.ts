/**
 * A DRA driver of one node, slots.example.com: its devices are slots of /dev/zero, which pod.yaml offers in a ResourceSlice.
 * `node --experimental-strip-types driver.ts [ROOT_DIR [CDI_DIR]]` runs it as root, where ROOT_DIR is the root directory of kcri. In a
 * cluster, a driver publishes its ResourceSlices to the API server and reads claims there; kcri without a cluster has the claims in
 * files instead.
 */
import {existsSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync} from 'node:fs';
import {dirname, join} from 'node:path';
import {fileURLToPath} from 'node:url';
import {Server, ServerCredentials, type ServiceDefinition} from '@grpc/grpc-js';
import {loadSync} from '@grpc/proto-loader';

const DRIVER = 'slots.example.com';
/** Kind of the devices in CDI: each claim is a device of it. */
const KIND = 'slots.example.com/claim';

const [rootDir = '/var/lib/kubelet', cdiDir = '/var/run/cdi'] = process.argv.slice(2);
/** Sockets of the driver's services, and of its registration with the kubelet. */
const socket = join(rootDir, 'plugins', DRIVER, 'dra.sock');
const registration = join(rootDir, 'plugins_registry', `${DRIVER}-reg.sock`);

const protos = fileURLToPath(new URL('../../proto/kubelet/', import.meta.url));
const OPTIONS = {keepCase: true, defaults: true};
const services = {
  ...loadSync(join(protos, 'dra.proto'), OPTIONS),
  ...loadSync(join(protos, 'plugin-registration.proto'), OPTIONS),
};

/** A claim in a request of the kubelet. */
interface Claim {
  readonly uid: string;
  readonly name: string;
  readonly namespace: string;
}

interface Request {
  readonly claims: readonly Claim[];
  readonly plugin_registered: boolean;
  readonly error: string;
}

/** Devices that were allocated for a claim. */
interface Result {
  readonly request: string;
  readonly driver: string;
  readonly pool: string;
  readonly device: string;
}

/** Returns the UID of a claim, which becomes part of file names: nothing else may be in it, whoever sends it. */
function checkedUid({uid}: Claim): string {
  if (!/^[\w-]{1,64}$/.test(uid)) throw new Error(`invalid UID "${uid}"`);
  return uid;
}

/** Returns the devices of this driver that kcri has allocated for a claim. */
function allocationOf(claim: Claim): readonly Result[] {
  const path = join(rootDir, 'kcri', 'resource-claims', `${checkedUid(claim)}.json`);
  const stored = JSON.parse(readFileSync(path, 'utf8'));
  const results: readonly Result[] = stored.claim.status.allocation.devices.results;
  return results.filter(({driver}) => driver === DRIVER);
}

function cdiFile(claim: Claim): string {
  return join(cdiDir, `${DRIVER}-${checkedUid(claim)}.json`);
}

/** Describes the devices of a claim to the runtime, and returns them with their names in CDI. Repeating it is fine. */
function prepare(claim: Claim): object {
  const results = allocationOf(claim);
  const devices = results.map(({request, device}) => ({
    name: `${claim.uid}-${request.replaceAll('/', '-')}-${device}`,
    containerEdits: {
      env: [`SLOT_${request.replaceAll(/\W/g, '_').toUpperCase()}=${device}`],
      deviceNodes: [{path: `/dev/${device}`, hostPath: '/dev/zero', permissions: 'r'}],
    },
  }));
  const path = cdiFile(claim);
  mkdirSync(cdiDir, {recursive: true});
  writeFileSync(`${path}.new`, JSON.stringify({cdiVersion: '0.6.0', kind: KIND, devices}));
  renameSync(`${path}.new`, path);
  console.log(`prepared ${claim.namespace}/${claim.name}: ${results.map(({device}) => device).join(' ')}`);
  return {
    devices: results.map(({request, pool, device}, index) => ({
      request_names: [request.split('/')[0]],
      pool_name: pool,
      device_name: device,
      cdi_device_ids: [`${KIND}=${devices[index]!.name}`],
    })),
  };
}

/** Forgets a claim. It may never have been prepared. */
function unprepare(claim: Claim): object {
  rmSync(cdiFile(claim), {force: true});
  console.log(`unprepared ${claim.namespace}/${claim.name}`);
  return {};
}

/** Returns a method that answers for each claim, with the error of those for which the work fails. */
function forEachClaim(work: (claim: Claim) => object) {
  return ({request}: {readonly request: Request}, answer: (error: null, response: object) => void): void => {
    const claims = request.claims.map((claim) => {
      try {
        return {key: claim.uid, value: work(claim)};
      } catch (error) {
        return {key: claim.uid, value: {error: String(error)}};
      }
    });
    answer(null, {claims});
  };
}

async function serve(path: string, service: string, methods: Record<string, () => void>): Promise<void> {
  mkdirSync(dirname(path), {recursive: true});
  rmSync(path, {force: true});
  const server = new Server();
  server.addService(services[service] as ServiceDefinition, methods);
  await new Promise<void>((resolve, reject) => {
    server.bindAsync(`unix:${path}`, ServerCredentials.createInsecure(), (error) => {
      if (error === null) resolve();
      else reject(error);
    });
  });
}

await serve(socket, 'k8s.io.kubelet.pkg.apis.dra.v1.DRAPlugin', {
  NodePrepareResources: forEachClaim(prepare),
  NodeUnprepareResources: forEachClaim(unprepare),
} as never);
await serve(registration, 'pluginregistration.Registration', {
  GetInfo: (_call: unknown, answer: (error: null, response: object) => void) => {
    answer(null, {type: 'DRAPlugin', name: DRIVER, endpoint: socket, supported_versions: ['v1.DRAPlugin']});
  },
  NotifyRegistrationStatus: ({request}: {readonly request: Request}, answer: (error: null, response: object) => void) => {
    console.log(request.plugin_registered ? 'registered' : `not registered: ${request.error}`);
    answer(null, {});
  },
} as never);
console.log(`serving ${DRIVER}`);
for (const signal of ['SIGINT', 'SIGTERM'])
  process.on(signal, () => {
    for (const path of [socket, registration]) if (existsSync(path)) rmSync(path);
    process.exit(0);
  });
