import {scrollingScreen, type WatchStrategy} from './watch.js';

/** Repeated output as in crictl: each table below the previous one, objects every 500 ms. */
export const CRICTL_WATCH: WatchStrategy = {
  tableScreen: (services) => scrollingScreen(services),
  objectPauseMs: 500,
  separatesDocuments: false,
};
