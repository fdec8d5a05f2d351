import {useEffect, useRef, useState} from 'preact/hooks';
import {applyMessage, type LiveModel} from '../model/live-model.js';
import {UsageHistory} from '../model/usage-history.js';
import type {Api} from '../net/api.js';
import {followLive, type LinkState} from '../net/live-link.js';
import {forgetSession} from '../net/session.js';

/** Live state of all nodes. */
export interface Live {
  /** Undefined before the first message. */
  readonly model: LiveModel | undefined;
  readonly history: UsageHistory;
  readonly link: LinkState;
}

/** Follows the live state until it is unmounted. */
export function useLive(api: Api): Live {
  const [model, setModel] = useState<LiveModel>();
  const [link, setLink] = useState<LinkState>({kind: 'connecting'});
  const history = useRef(new UsageHistory());
  useEffect(() => {
    const controller = new AbortController();
    let current: LiveModel | undefined;
    void followLive(
      api,
      {
        onMessage: (message) => {
          current = applyMessage(current, message);
          if (message.kind === 'state') history.current.replace(message.history);
          else history.current.record(current);
          setModel(current);
        },
        onState: (state) => {
          if (state.kind === 'ended') forgetSession();
          setLink(state);
        },
      },
      controller.signal,
    );
    return () => controller.abort();
  }, [api]);
  return {model, history: history.current, link};
}
