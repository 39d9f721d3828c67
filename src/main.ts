/** The program `countersign`, under the name by which it is started without an installation: `node dist/main.js start`. */
import './cli/countersign.js';
