import {parseStreamingAddress} from '../session/streaming-address.js';
import {readBoundedText} from '../session/read-bounded-text.js';
import {StreamingError} from '../session/errors.js';
import {InputGate} from '../session/input-gate.js';
import {resultAfterSilence} from '../session/probed-result.js';
import type {RemoteResult, RemoteSession, SessionOptions, SessionRequest} from '../session/session.js';
import {parseSessionStatus} from '../session/session-status.js';
import {
  dialChannels,
  V4_CHANNELS,
  V5_CHANNELS,
  type Channels,
  type ChannelStream,
} from './websocket-channels.js';

/** Channel numbers, in Kubernetes' order. */
const CHANNEL = {stdin: 0, stdout: 1, stderr: 2, error: 3, resize: 4} as const;

/**
 * Opens an exec or attach session over WebSocket. The end of stdin cannot be sent to servers that only support v4.
 * Rejects with UpgradeRefusedError if the server does not support WebSocket, with StreamingError if it is unreachable,
 * or with the signal's reason.
 */
export async function openWebSocketSession(
  url: string,
  request: SessionRequest,
  options: SessionOptions,
): Promise<RemoteSession> {
  const channelRequest = {protocols: [V5_CHANNELS, V4_CHANNELS], channels: channelsOf(request)};
  const channels = await dialChannels(parseStreamingAddress(url), channelRequest, options);
  const open = (name: 'stdin' | 'stdout' | 'stderr'): ChannelStream | undefined =>
    request[name] ? channels.channel(CHANNEL[name]) : undefined;
  const resizing = request.tty ? channels.channel(CHANNEL.resize) : undefined;
  const [stdin, stdout, stderr] = [open('stdin'), open('stdout'), open('stderr')];
  const result = withProbe(resultOf(channels), {channels, stdin, outputs: [stdout, stderr]}, options);
  // The session may be closed before its result is awaited.
  result.catch(() => undefined);
  return {
    stdin,
    stdout,
    stderr,
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

interface SessionChannels {
  readonly channels: Channels;
  readonly stdin: ChannelStream | undefined;
  readonly outputs: readonly (ChannelStream | undefined)[];
}

/** Returns the result of a session, or that of the probe if the server sends none; then it ends the outputs. */
async function withProbe(
  result: Promise<RemoteResult>,
  {channels, stdin, outputs}: SessionChannels,
  {clock, probe}: SessionOptions,
): Promise<RemoteResult> {
  if (stdin === undefined || probe === undefined) return await result;
  const ended = new AbortController();
  stdin.gate = new InputGate(() => probe.find(ended.signal));
  const bytesReceived = (): number => outputs.reduce((sum, each) => sum + (each?.bytesReceived ?? 0), 0);
  const probed = resultAfterSilence({probe, clock, stdin, bytesReceived}, ended.signal);
  try {
    return await Promise.race([result, probed]);
  } finally {
    ended.abort();
    probed.catch(() => undefined);
    result.catch(() => undefined);
    channels.close();
  }
}

function channelsOf({stdin, stdout, stderr, tty}: SessionRequest): readonly number[] {
  const requested = {stdin, stdout, stderr, error: true, resize: tty};
  return Object.entries(CHANNEL).flatMap(([name, number]) =>
    requested[name as keyof typeof requested] ? [number] : [],
  );
}

async function resultOf(channels: Channels): Promise<RemoteResult> {
  const error = channels.channel(CHANNEL.error);
  // The status is the last message of the server.
  const status = readBoundedText(error, () => {
    channels.finish();
  });
  const [text, properly] = await Promise.all([status, channels.closed]);
  if (text !== '') return parseSessionStatus(text);
  // A v5 server may send no status for success (conmon-rs).
  if (properly && channels.protocol === V5_CHANNELS) return {kind: 'exited', exitCode: 0};
  throw new StreamingError(
    'the connection to the streaming server was lost before the result of the command',
    {hint: 'the command may still be running in the container'},
  );
}
