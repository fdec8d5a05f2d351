import {connect} from 'node:net';
import {onAbort} from '../../../base/async/abort-callbacks.js';
import type {TCPSocketAction} from '../../../api/types/v1-pod.js';
import {messageOf, rethrowUnexpected} from '../../../base/errors.js';
import {joinHostPort} from '../../../base/net/join-host-port.js';
import {dialErrorMessage} from '../http/http-get.js';
import {resolveContainerPort} from '../http/http-request.js';
import type {ProbeTarget} from './http-probe.js';
import {failure, success, type ProbeHandlerResult} from './probe-handler-result.js';

/** Opens and closes a connection; a connection that opens is a success (probe/tcp). */
export async function probeTcp(
  {host = '', port}: TCPSocketAction,
  {container, podIp}: ProbeTarget,
  timeUp: AbortSignal,
): Promise<ProbeHandlerResult> {
  try {
    const address = {host: host === '' ? podIp : host, port: resolveContainerPort(port, container)};
    return await dial(address, timeUp);
  } catch (error) {
    rethrowUnexpected(error);
    return {result: 'error', state: 'unknown', output: messageOf(error)};
  }
}

async function dial(
  address: {readonly host: string; readonly port: number},
  timeUp: AbortSignal,
): Promise<ProbeHandlerResult> {
  return await new Promise((resolve) => {
    const socket = connect(address);
    const end = (result: ProbeHandlerResult): void => {
      forget();
      socket.destroy();
      resolve(result);
    };
    const forget = onAbort(timeUp, () => {
      end(failure(`dial tcp ${joinHostPort(address)}: i/o timeout`));
    });
    socket.once('connect', () => {
      end(success());
    });
    socket.on('error', (error) => {
      end(failure(dialErrorMessage(address, error) ?? messageOf(error)));
    });
  });
}
