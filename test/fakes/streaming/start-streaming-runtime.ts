import {onTestFinished} from 'vitest';
import {aContainer, aSandbox, FakeRuntime} from '../fake-runtime.js';
import {FakeStreamingServer, type ServerSession} from './fake-streaming-server.js';

/** Starts a runtime with the container `main` of a pod, whose sessions are handled. Stops it when the test has finished. */
export async function startStreamingRuntime(
  handleSession: (session: ServerSession) => Promise<void> | void,
): Promise<FakeRuntime> {
  const server = await FakeStreamingServer.start({handleSession});
  const sandbox = aSandbox({name: 'web'});
  const runtime = await FakeRuntime.start({
    streamingUrl: server.url,
    sandboxes: [sandbox],
    containers: [aContainer({sandbox, name: 'main'})],
  });
  onTestFinished(async () => {
    await runtime.stop();
    await server[Symbol.asyncDispose]();
  });
  return runtime;
}
