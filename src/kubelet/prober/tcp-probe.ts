import {connect} from 'node:net';
import type {TCPSocketAction} from '../../api/v1.js';
import {messageOf} from '../../base/errors.js';
import {dialProblem} from '../http/http-get.js';
import {containerPort, hostPort} from '../http/http-request.js';
import type {ProbeTarget} from './http-probe.js';
import {failure, success, type ProbeAnswer} from './probe-answer.js';

/** Opens a connection and closes it again: that it can be opened is a success (probe/tcp). */
export async function probeTcp(
  {host = '', port}: TCPSocketAction,
  {container, podIp}: ProbeTarget,
  timeUp: AbortSignal,
): Promise<ProbeAnswer> {
  try {
    const address = {host: host === '' ? podIp : host, port: containerPort(port, container)};
    return await dial(address, timeUp);
  } catch (error) {
    return {result: 'error', state: 'unknown', output: messageOf(error)};
  }
}

async function dial(
  address: {readonly host: string; readonly port: number},
  timeUp: AbortSignal,
): Promise<ProbeAnswer> {
  return await new Promise((resolve) => {
    const socket = connect(address);
    const end = (answer: ProbeAnswer): void => {
      timeUp.removeEventListener('abort', tooLate);
      socket.destroy();
      resolve(answer);
    };
    const tooLate = (): void => {
      end(failure(`dial tcp ${hostPort(address)}: i/o timeout`));
    };
    timeUp.addEventListener('abort', tooLate, {once: true});
    socket.once('connect', () => {
      end(success());
    });
    socket.on('error', (error) => {
      end(failure(dialProblem(address, error) ?? messageOf(error)));
    });
  });
}
