/*
 * What a page does about a call, in the order in which it does it. Numbers, because every page pays for the names.
 */

/** Nothing: it may be offered to somebody. */
export const OPEN = 0;
/** It has been asked for. */
export const CLAIMING = 1;
/** It is ours, and is being noted as started. */
export const STARTING = 2;
/** Its body runs. */
export const RUNNING = 3;
/** The result is being noted. */
export const FINISHING = 4;
/** The answer is sent until it is stored. */
export const ANSWERED = 5;
/** It may have been executed by a page that is gone, and is given back until the server knows. */
export const RELEASING = 6;
/** It is no affair of ours any more. */
export const OVER = 7;
