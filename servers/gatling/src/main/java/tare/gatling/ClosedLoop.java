package tare.gatling;

import static io.gatling.javaapi.core.CoreDsl.*;
import static io.gatling.javaapi.http.HttpDsl.*;

import io.gatling.javaapi.core.Simulation;
import io.gatling.javaapi.http.HttpRequestActionBuilder;

/** So many users at once, each on a connection of its own, who send the one request again once it is answered. */
public final class ClosedLoop extends Simulation {
  {
    Asked asked = Asked.now;
    HttpRequestActionBuilder request =
        http("request").httpRequest(asked.method(), asked.url()).headers(asked.headers()).check(status().is(asked.status()));
    if (asked.body() != null) {
      request = request.body(RawFileBody(asked.body().toString()));
    }
    var user = scenario("user").during(asked.length()).on(exec(request));
    // Without what a browser would add: the same request as tare's and wrk's.
    var protocol = http.disableCaching().disableFollowRedirect().disableAutoReferer();
    setUp(user.injectOpen(atOnceUsers(asked.users()))).protocols(protocol);
  }
}
