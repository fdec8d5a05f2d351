import {vi} from 'vitest';

/* The client's tests once more, with all calls over grpc-js, as streams are. */
vi.mock('../../src/cri/default-transport.js', async () => {
  const {grpcTransport} = await import('../../src/cri/grpc-transport.js');
  return {defaultTransport: grpcTransport};
});

await import('./client.test.js');
await import('./wrong-endpoint.test.js');
