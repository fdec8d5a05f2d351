import {describe, test} from 'vitest';
import {grpcTransport} from '../../../src/cri/grpc-transport.js';
import {FRAME, SETTING} from '../../../src/cri/http2/protocol-constants.js';
import {unaryTransport} from '../../../src/cri/unary/unary-transport.js';
import {against, serve, type Script} from './transport-client.js';
import {answer, settingsFrame, windowFrame} from './scripted-peer.js';

/* How both transports send within the flow-control windows of the server. */

describe.each([
  ['kcri’s HTTP/2', unaryTransport],
  ['grpc-js', grpcTransport],
] as const)('over %s', (_, open) => {
  const to = async (...scripts: readonly Script[]) => await against(open, ...scripts);

  test('calls above the stream limit are queued', async ({expect}) => {
    let [running, maxRunning] = [0, 0];
    await using server = await to(async (peer) => {
      peer.send(settingsFrame([SETTING.maxConcurrentStreams, 2]));
      for (;;) {
        const {streamId} = await peer.request();
        running += 1;
        maxRunning = Math.max(maxRunning, running);
        setTimeout(() => {
          running -= 1;
          peer.send(answer(streamId, 'answered'));
        }, 2);
      }
    });
    await server.call();
    expect(await Promise.all(Array.from({length: 20}, () => server.call()))).toHaveLength(20);
    expect(maxRunning).toBe(2);
  });

  test('1,000 concurrent calls receive their own responses', async ({expect}) => {
    await using server = await to(
      serve(({streamId, body}) => answer(streamId, body.subarray(5)), [SETTING.maxConcurrentStreams, 100]),
    );
    const names = Array.from({length: 1000}, (_, index) => `call ${index}`);
    expect(await Promise.all(names.map((name) => server.call(name)))).toEqual(names);
    expect(server.peer.connections).toHaveLength(1);
  });

  test('a request is sent within any window', async ({expect}) => {
    const request = 'abcdefghij'.repeat(10_000);
    await using server = await to(async (peer) => {
      peer.send(settingsFrame([SETTING.initialWindowSize, 0]), windowFrame(0, 1_000_000));
      const {streamId} = await peer.requestHeaders();
      const parts: Buffer[] = [];
      // RFC 9113, 6.9.2: a fully used window of 1000 becomes -500 when the initial window shrinks to 500.
      const grants: [Buffer, number][] = [
        [windowFrame(streamId, 1), 1],
        [windowFrame(streamId, 998), 998],
        [settingsFrame([SETTING.initialWindowSize, 1001]), 1001],
        [settingsFrame([SETTING.initialWindowSize, 501]), 0],
        [windowFrame(streamId, 500), 0],
        [windowFrame(streamId, 3), 3],
        [settingsFrame([SETTING.maxFrameSize, 20_000]), 0],
        [windowFrame(streamId, 2 ** 30), request.length + 5 - 2003],
      ];
      for (const [grant, bytes] of grants) {
        peer.send(grant);
        let length = 0;
        while (length < bytes) {
          const {payload} = await peer.next(FRAME.data);
          parts.push(payload);
          length += payload.length;
        }
        await new Promise((resolve) => setTimeout(resolve, 5));
      }
      const body = Buffer.concat(parts);
      const lengths = parts.map(({length}) => length).slice(0, 4);
      peer.send(
        answer(streamId, `${lengths.join()} ${peer.unread} ${body.subarray(5).toString() === request}`),
      );
    });
    expect(await server.call(request)).toBe('1,998,1001,3 0 true');
  });

  test('all requests together stay within the connection’s window', async ({expect}) => {
    await using server = await to(async (peer) => {
      peer.send(settingsFrame([SETTING.initialWindowSize, 1_000_000]));
      let length = 0;
      const take = async (total: number): Promise<Map<number, number>> => {
        const by = new Map<number, number>();
        for (; length < total;) {
          const {streamId, payload} = await peer.next(FRAME.data);
          length += payload.length;
          by.set(streamId, (by.get(streamId) ?? 0) + payload.length);
        }
        return by;
      };
      const first = await take(65_535);
      await new Promise((resolve) => setTimeout(resolve, 10));
      const tooMuch = length - 65_535;
      peer.send(windowFrame(0, 1_000_000));
      await take(2 * 100_005);
      peer.send(answer(1, `${tooMuch}`), answer(3, `${first.size}`));
    });
    const request = 'x'.repeat(100_000);
    await expect(Promise.all([server.call(request), server.call(request)])).resolves.toEqual([
      '0',
      expect.anything(),
    ]);
  });
});
