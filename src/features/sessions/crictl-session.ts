import {StreamingError} from '../../streaming/session/errors.js';
import {DETACH_KEYS, parseDetachKeys} from './detach-keys.js';
import {baseOpenOptions, type SessionStrategy} from './command-session.js';
import {isTerminalInput} from '../../cli/terminal/terminal-input.js';
import {checkCrictlClient, crictlTlsOptions} from './crictl-streaming.js';

/** Sessions as in crictl, which checks transport and terminal only after the runtime has accepted the session. */
export const CRICTL_SESSION: SessionStrategy = {
  detachKeys: () => parseDetachKeys(DETACH_KEYS),
  availableStreams: (_services, requested) => requested,
  openOptions: (services, flags, streams) => ({
    ...baseOpenOptions(services),
    tls: crictlTlsOptions(flags),
    transport: flags.transport === 'websocket' ? 'websocket' : 'spdy',
    onAccepted: () => {
      checkCrictlClient(flags, {client: 'get executor', spdyFiles: ''});
      if (streams.tty && !streams.stdin)
        throw new StreamingError('tty=true must be specified with interactive=true');
      if (streams.tty && !isTerminalInput(services.context.stdin))
        throw new StreamingError('input is not a terminal');
    },
  }),
  reportDetached: () => undefined,
};
