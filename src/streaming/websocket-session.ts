import type {Duplex} from 'node:stream';
import {streamingAddress} from './address.js';
import {boundedText} from './bounded-text.js';
import {StreamingError} from './errors.js';
import type {RemoteOutput} from './remote-output.js';
import type {DialOptions, RemoteResult, RemoteSession, SessionRequest} from './session.js';
import {remoteResult} from './status.js';
import {dialChannels, V4_CHANNELS, V5_CHANNELS, type Channels} from './websocket-channels.js';

/** The numbers of the channels, which also are the order in which Kubernetes lists them. */
const CHANNEL = {stdin: 0, stdout: 1, stderr: 2, error: 3, resize: 4} as const;

/**
 * An exec or attach session over WebSocket. Servers that speak only v4 can't
 * be told of the end of stdin. Rejects with UpgradeRefusedError when the server takes no WebSocket, with
 * StreamingError when it can't be reached, or with the signal's reason.
 */
export async function openWebSocketSession(
  url: string,
  request: SessionRequest,
  options: DialOptions,
): Promise<RemoteSession> {
  const asked = {protocols: [V5_CHANNELS, V4_CHANNELS], channels: channelsOf(request)};
  const channels = await dialChannels(streamingAddress(url), asked, options);
  const open = (name: 'stdin' | 'stdout' | 'stderr'): (Duplex & RemoteOutput) | undefined =>
    request[name] ? channels.channel(CHANNEL[name]) : undefined;
  const resizing = request.tty ? channels.channel(CHANNEL.resize) : undefined;
  const result = resultOf(channels);
  // Who opened the session may leave before it looks at the result.
  result.catch(() => undefined);
  return {
    stdin: open('stdin'),
    stdout: open('stdout'),
    stderr: open('stderr'),
    halfClosesStdin: channels.protocol === V5_CHANNELS,
    resize: ({columns, rows}) => {
      resizing?.write(JSON.stringify({Width: columns, Height: rows}));
    },
    result,
    close: () => {
      channels.close();
    },
  };
}

function channelsOf({stdin, stdout, stderr, tty}: SessionRequest): readonly number[] {
  const asked = {stdin, stdout, stderr, error: true, resize: tty};
  return Object.entries(CHANNEL).flatMap(([name, number]) =>
    asked[name as keyof typeof asked] ? [number] : [],
  );
}

async function resultOf(channels: Channels): Promise<RemoteResult> {
  const error = channels.channel(CHANNEL.error);
  // The status is the last that the server says.
  const status = boundedText(error, () => {
    channels.finish();
  });
  const [text, properly] = await Promise.all([status, channels.closed]);
  if (text !== '') return remoteResult(text);
  // A server that speaks v5 may say nothing of success (conmon-rs).
  if (properly && channels.protocol === V5_CHANNELS) return {kind: 'exited', exitCode: 0};
  throw new StreamingError(
    'the connection to the streaming server was lost before it said how the command ended',
    {hint: 'the command may still be running in the container'},
  );
}
