import {vi} from 'vitest';

/* Runs the client's tests again with all calls over grpc-js. */
vi.mock('../../src/cri/default-transport.js', async () => {
  const {grpcTransport} = await import('../../src/cri/grpc-transport.js');
  return {defaultTransport: grpcTransport};
});

await import('./client.test.js');
await import('./wrong-endpoint.test.js');
