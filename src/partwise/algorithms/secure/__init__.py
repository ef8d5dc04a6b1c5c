"""Methods of the DSANLS paper for parties that keep their data: Syn-SD, Syn-SSD, Asyn-SD, Asyn-SSD, modified DSANLS."""
