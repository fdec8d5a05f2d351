// Lists the pod sandboxes of a runtime with kcri's CRI client library.
//   node examples/list-pods.mjs unix:///run/containerd/containerd.sock
import {connect, CriError} from 'kcri';

const endpoint = process.argv[2] ?? 'unix:///run/containerd/containerd.sock';
const {runtime, close} = connect(endpoint);
try {
  const {runtimeName, runtimeVersion} = await runtime.version();
  process.stdout.write(`${runtimeName} ${runtimeVersion}\n`);
  const {items} = await runtime.listPodSandbox(
    {filter: {state: {state: 'SANDBOX_READY'}}},
    {signal: AbortSignal.timeout(10_000)},
  );
  for (const {id, metadata} of items)
    process.stdout.write(`${id.slice(0, 13)}  ${metadata?.namespace}/${metadata?.name}\n`);
} catch (error) {
  if (!(error instanceof CriError)) throw error;
  process.stderr.write(`${error.method}: ${error.message}\n${error.hint ?? ''}\n`);
  process.exitCode = 1;
} finally {
  close();
}
