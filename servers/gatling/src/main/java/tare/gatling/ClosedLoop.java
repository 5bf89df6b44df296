package tare.gatling;

import static io.gatling.javaapi.core.CoreDsl.*;
import static io.gatling.javaapi.http.HttpDsl.*;

import io.gatling.javaapi.core.Simulation;
import io.gatling.javaapi.http.HttpRequestActionBuilder;

/** Users with their own connections. Each sends the same request again when it is answered. */
public final class ClosedLoop extends Simulation {
  {
    Arguments arguments = Arguments.current;
    HttpRequestActionBuilder request =
        http("request")
            .httpRequest(arguments.method(), arguments.url())
            .headers(arguments.headers())
            .check(status().is(arguments.status()));
    if (arguments.body() != null) {
      request = request.body(RawFileBody(arguments.body().toString()));
    }
    var user = scenario("user").during(arguments.length()).on(exec(request));
    // No headers of a browser, so that the request is the same as that of tare and wrk.
    var protocol = http.disableCaching().disableFollowRedirect().disableAutoReferer();
    setUp(user.injectOpen(atOnceUsers(arguments.users()))).protocols(protocol);
  }
}
